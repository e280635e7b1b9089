import { commonPrefixLength } from "../lib/incremental-flat-map.ts";
import type { ModelRequest } from "./build-request.ts";

type Messages = ModelRequest["messages"];

/** The messages with which all requests of a conversation begin, already serialized. */
interface SharedPrefix {
  /** The messages of the last request. */
  readonly messages: Messages;
  /** The JSON of the first `count` messages, each followed by a comma. */
  readonly head: Buffer<ArrayBuffer>;
  readonly count: number;
}

/**
 * Shared prefixes by the conversation's first message. Each request of a conversation contains the same message objects
 * again.
 */
const prefixes = new WeakMap<object, SharedPrefix>();

/** The minimum number of messages that are added to a head at once. Each addition copies the whole head. */
const ADDED_AT_ONCE = 16;

const NOTHING = Buffer.alloc(0);

/**
 * Returns the JSON of a streaming request as bytes. Messages that an earlier request contained are copied, not
 * serialized again. A string would be slower, because `fetch` measures a string before it makes the same copy.
 */
export function toBody({ messages, ...rest }: ModelRequest): Buffer<ArrayBuffer> {
  const before = JSON.stringify({ ...rest, stream: true }).slice(0, -1);
  const { head, count } = extendPrefix(messages);
  return Buffer.concat([
    Buffer.from(`${before},"messages":[`),
    head,
    Buffer.from(`${messages.slice(count).map(toJson).join()}]}`),
  ]);
}

/**
 * Moves the common prefix of two consecutive requests into the head. Only messages near the end differ, because cache
 * breakpoints move with each request.
 */
function extendPrefix(messages: Messages): Pick<SharedPrefix, "head" | "count"> {
  const [first] = messages;
  if (!first) return { head: NOTHING, count: 0 };
  const known = prefixes.get(first);
  const same = commonPrefixLength(known?.messages ?? [], messages);
  const isKept = known !== undefined && same >= known.count;
  let { head, count } = isKept ? known : { head: NOTHING, count: 0 };
  // The last message is serialized with the rest, so that there is no trailing comma.
  const end = Math.min(same, messages.length - 1);
  if (end - count >= ADDED_AT_ONCE) {
    const added = messages.slice(count, end);
    head = Buffer.concat([head, Buffer.from(added.map((message) => `${toJson(message)},`).join(""))]);
    for (const message of added) written.delete(message);
    count = end;
  }
  prefixes.set(first, { messages, head, count });
  return { head, count };
}

/**
 * JSON of messages that are not in a head. In a conversation with pictures, messages from the first picture on never
 * move into the head, because a message with pictures is a new object in each request.
 */
const written = new WeakMap<object, string>();

function toJson(message: object): string {
  const known = written.get(message);
  if (known !== undefined) return known;
  const json = JSON.stringify(message);
  written.set(message, json);
  return json;
}
