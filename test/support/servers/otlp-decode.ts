import { BinaryReader } from "@bufbuild/protobuf/wire";

type Kind =
  | "string"
  | "bytes"
  | "hex"
  | "fixed64"
  | "uint32"
  | "int64"
  | "double"
  | "bool"
  | "packed_fixed64"
  | "packed_double";
type Fields = Readonly<Record<number, readonly [name: string, kind: Kind | (() => Fields), isRepeated?: boolean]>>;

// The parts of opentelemetry-proto 1.x that tests check.
const anyValue: Fields = {
  1: ["string", "string"],
  2: ["bool", "bool"],
  3: ["int", "int64"],
  4: ["double", "double"],
  5: ["array", () => ({ 1: ["values", () => anyValue, true] })],
  6: ["map", () => ({ 1: ["values", () => keyValue, true] })],
};
const keyValue: Fields = { 1: ["key", "string"], 2: ["value", () => anyValue] };
const attributes = ["attributes", () => keyValue, true] as const;
const scope: Fields = { 1: ["name", "string"] };
const resource: Fields = { 1: attributes };
const event: Fields = { 1: ["time", "fixed64"], 2: ["name", "string"], 3: attributes };
const link: Fields = { 1: ["traceId", "hex"], 2: ["spanId", "hex"] };
const status: Fields = { 2: ["message", "string"], 3: ["code", "uint32"] };
const span: Fields = {
  1: ["traceId", "hex"],
  2: ["spanId", "hex"],
  4: ["parentSpanId", "hex"],
  5: ["name", "string"],
  6: ["kind", "uint32"],
  7: ["start", "fixed64"],
  8: ["end", "fixed64"],
  9: attributes,
  11: ["events", () => event, true],
  13: ["links", () => link, true],
  15: ["status", () => status],
};
const numberPoint: Fields = { 4: ["double", "double"], 6: ["int", "fixed64"], 7: attributes };
const histogramPoint: Fields = {
  4: ["count", "fixed64"],
  5: ["sum", "double"],
  6: ["counts", "packed_fixed64"],
  7: ["bounds", "packed_double"],
  9: attributes,
};
const points = (point: Fields): Fields => ({ 1: ["points", () => point, true] });
const metric: Fields = {
  1: ["name", "string"],
  2: ["description", "string"],
  3: ["unit", "string"],
  5: ["gauge", () => points(numberPoint)],
  7: ["sum", () => points(numberPoint)],
  9: ["histogram", () => points(histogramPoint)],
};
const log: Fields = {
  2: ["severity", "uint32"],
  5: ["body", () => anyValue],
  6: attributes,
  9: ["traceId", "hex"],
  10: ["spanId", "hex"],
  12: ["eventName", "string"],
};
const request = (item: Fields): Fields => ({
  1: [
    "resources",
    () => ({
      1: ["resource", () => resource],
      2: ["scopes", () => ({ 1: ["scope", () => scope], 2: ["items", () => item, true] }), true],
    }),
    true,
  ],
});

// oxlint-disable-next-line typescript/no-explicit-any -- decoded by the tables above
type Decoded = any;

function read(reader: BinaryReader, fields: Fields, end: number): Decoded {
  const result: Record<string, unknown> = {};
  for (const [name, , isRepeated] of Object.values(fields)) if (isRepeated) result[name] = [];
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    const field = fields[number];
    if (!field) {
      reader.skip(wireType, number);
      continue;
    }
    const [name, kind, isRepeated] = field;
    const value =
      typeof kind === "string" ? readValue(reader, kind) : read(reader, kind(), reader.uint32() + reader.pos);
    if (isRepeated) (result[name] as unknown[]).push(value);
    else result[name] = value;
  }
  return result;
}

function readValue(reader: BinaryReader, kind: Kind): unknown {
  switch (kind) {
    case "string":
      return reader.string();
    case "bytes":
      return reader.bytes();
    case "hex":
      return Buffer.from(reader.bytes()).toString("hex");
    case "fixed64":
      return Number(reader.fixed64());
    case "uint32":
      return reader.uint32();
    case "int64":
      return Number(reader.int64());
    case "double":
      return reader.double();
    case "bool":
      return reader.bool();
    case "packed_fixed64":
    case "packed_double": {
      const end = reader.uint32() + reader.pos;
      const values: number[] = [];
      while (reader.pos < end) values.push(kind === "packed_double" ? reader.double() : Number(reader.fixed64()));
      return values;
    }
  }
}

function toValue(value: Decoded): unknown {
  if (value.array) return value.array.values.map(toValue);
  if (value.map) return toMap(value.map.values);
  return value.string ?? value.bool ?? value.int ?? value.double;
}

function toMap(pairs: readonly Decoded[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, toValue(value ?? {})]));
}

function items(bytes: Uint8Array, item: Fields): Decoded[] {
  const root = read(new BinaryReader(bytes), request(item), bytes.length);
  return root.resources.flatMap((each: Decoded) =>
    each.scopes.flatMap((inner: Decoded) =>
      inner.items.map((one: Decoded) => ({
        ...one,
        attributes: toMap(one.attributes ?? []),
        scope: inner.scope?.name,
        resource: toMap(each.resource?.attributes ?? []),
      })),
    ),
  );
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** 1 is INTERNAL, 3 is CLIENT. */
  readonly kind: number;
  /** Nanoseconds since the epoch; the last few digits are rounded. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0 is unset, 2 is an error. */
  readonly status: number;
  readonly scope: string;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface OtlpPoint {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly value: number | undefined;
  readonly count: number | undefined;
  readonly sum: number | undefined;
  readonly bounds: readonly number[] | undefined;
}

export interface OtlpMetric {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly kind: "gauge" | "sum" | "histogram";
  readonly points: readonly OtlpPoint[];
}

export interface OtlpLog {
  readonly severity: number;
  readonly body: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  readonly eventName: string | undefined;
}

export function decodeTraces(bytes: Uint8Array): OtlpSpan[] {
  return items(bytes, span).map((each) => ({
    ...each,
    status: each.status?.code ?? 0,
    events: each.events.map((one: Decoded) => ({ name: one.name, attributes: toMap(one.attributes) })),
  }));
}

export function decodeMetrics(bytes: Uint8Array): OtlpMetric[] {
  return items(bytes, metric).map((each) => {
    const kind = each.gauge ? "gauge" : each.sum ? "sum" : "histogram";
    const toPoint = (point: Decoded) => ({
      ...point,
      value: point.double ?? point.int,
      attributes: toMap(point.attributes),
    });
    const { name, description = "", unit = "" } = each;
    return { name, description, unit, kind, points: each[kind].points.map(toPoint) };
  });
}

export function decodeLogs(bytes: Uint8Array): OtlpLog[] {
  return items(bytes, log).map((each) => ({ ...each, body: toValue(each.body ?? {}) }));
}
