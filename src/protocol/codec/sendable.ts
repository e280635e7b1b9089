import { AppError } from "../../errors/app-error.ts";
import { FORBIDDEN_KEYS, LIMITS } from "../limits.ts";

const textEncoder = new TextEncoder();

/** What one envelope has used of its limits so far. */
export interface Budget {
  values: number;
  bytes: number;
  readonly keys: Set<string>;
}

/**
 * Refuses what our decoder would refuse at the other end, and changes what the encoder would write wrongly: lone
 * surrogates become U+FFFD, bigints become numbers. Only containers that change are copied.
 *
 * @param depth the value's own; the envelope has 1
 * @throws {AppError} `too_large`, or `internal` for what MessagePack cannot carry
 */
export function toSendable(value: unknown, depth: number, budget: Budget): unknown {
  budget.values++;
  budget.bytes++;
  if (budget.values > LIMITS.values) throw tooLarge(`The message has over ${LIMITS.values} values`);
  if (budget.bytes > LIMITS.envelopeBytes) throw tooLarge(`The envelope is over ${LIMITS.envelopeBytes} bytes`);
  switch (typeof value) {
    case "function":
    case "symbol":
      throw new AppError("internal", `A ${typeof value} cannot be encoded`);
    case "undefined":
    case "boolean":
    case "number":
      return value;
    case "string":
      return toSendableText(value, budget);
    case "bigint":
      return toSendableInteger(value);
    case "object":
      return value === null ? null : toSendableObject(value, depth, budget);
  }
}

function toSendableText(text: string, budget: Budget): string {
  const { length } = text;
  if (length > LIMITS.stringBytes || (length * 3 > LIMITS.stringBytes && byteLength(text) > LIMITS.stringBytes)) {
    throw tooLarge(`A string is over ${LIMITS.stringBytes} bytes`);
  }
  budget.bytes += length;
  return text.isWellFormed() ? text : text.toWellFormed();
}

function toSendableInteger(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new AppError("internal", "An integer beyond 2^53 cannot be encoded");
  return number;
}

function toSendableObject(value: object, depth: number, budget: Budget): unknown {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new AppError("internal", "An invalid Date cannot be encoded");
    return value;
  }
  if (value instanceof Uint8Array) {
    budget.bytes += value.length;
    return value;
  }
  if (depth > LIMITS.depth) throw tooLarge(`The message is nested over ${LIMITS.depth} deep`);
  if (Array.isArray(value)) return toSendableList(value, depth, budget);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return toSendableMap(value, depth, budget);
  throw new AppError("internal", "An object that is no plain map, list, Date or Uint8Array cannot be encoded");
}

function toSendableList(list: readonly unknown[], depth: number, budget: Budget): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    const sendable = toSendable(item, depth + 1, budget);
    if (sendable !== item) (copy ??= [...list])[index] = sendable;
  }
  return copy ?? list;
}

function toSendableMap(map: object, depth: number, budget: Budget): object {
  let copy: Record<string, unknown> | undefined;
  for (const [key, value] of Object.entries(map)) {
    checkKey(key, budget);
    budget.bytes += key.length;
    const sendable = toSendable(value, depth + 1, budget);
    if (sendable !== value) (copy ??= { ...map })[key] = sendable;
  }
  return copy ?? map;
}

function checkKey(key: string, { keys }: Budget): void {
  if (FORBIDDEN_KEYS.has(key)) throw new AppError("internal", "A key has a forbidden name");
  if (!key.isWellFormed()) throw new AppError("internal", "A key is not well-formed Unicode");
  if (key.length * 3 > LIMITS.keyBytes && byteLength(key) > LIMITS.keyBytes) {
    throw tooLarge(`A key is over ${LIMITS.keyBytes} bytes`);
  }
  if (keys.add(key).size > LIMITS.differentKeys)
    throw tooLarge(`The message has over ${LIMITS.differentKeys} different keys`);
}

function byteLength(text: string): number {
  return textEncoder.encode(text).length;
}

function tooLarge(message: string): AppError {
  return new AppError("too_large", message);
}
