import { sameBeginning } from "../lib/flat-map-growing.ts";
import type { ModelRequest } from "./build-request.ts";

type Messages = ModelRequest["messages"];

/** What a talk's requests begin with. */
interface Beginning {
  /** Of the last request. */
  readonly messages: Messages;
  /** The JSON of the first `count` of them, each followed by a comma. */
  readonly head: Buffer<ArrayBuffer>;
  readonly count: number;
}

/** By its first message. A talk's messages are sent again with every request, and stay what they are. */
const beginnings = new WeakMap<object, Beginning>();

/** So many messages are added to the head at once: that copies it. */
const ADDED_AT_ONCE = 16;

const NOTHING = Buffer.alloc(0);

/**
 * The JSON of a request for a stream, as bytes: of what an earlier request had, only these are copied. Of a string, `fetch`
 * would make such a copy after it has counted them.
 */
export function toBody({ messages, ...rest }: ModelRequest): Buffer<ArrayBuffer> {
  const before = JSON.stringify({ ...rest, stream: true }).slice(0, -1);
  const { head, count } = begin(messages);
  return Buffer.concat([
    Buffer.from(`${before},"messages":[`),
    head,
    Buffer.from(`${messages.slice(count).map(toJson).join()}]}`),
  ]);
}

/** What two requests in a row begin with belongs to the head: the marks at the end move on, and the rest stays. */
function begin(messages: Messages): Pick<Beginning, "head" | "count"> {
  const [first] = messages;
  if (!first) return { head: NOTHING, count: 0 };
  const known = beginnings.get(first);
  const same = sameBeginning(known?.messages ?? [], messages);
  const isKept = known !== undefined && same >= known.count;
  let { head, count } = isKept ? known : { head: NOTHING, count: 0 };
  // The last one is written with the rest, so that no comma is left over.
  const end = Math.min(same, messages.length - 1);
  if (end - count >= ADDED_AT_ONCE) {
    const added = messages.slice(count, end);
    head = Buffer.concat([head, Buffer.from(added.map((message) => `${toJson(message)},`).join(""))]);
    for (const message of added) written.delete(message);
    count = end;
  }
  beginnings.set(first, { messages, head, count });
  return { head, count };
}

/** By message that is in no head. With pictures in a talk, the messages behind the first one do not become part of it. */
const written = new WeakMap<object, string>();

function toJson(message: object): string {
  const known = written.get(message);
  if (known !== undefined) return known;
  const json = JSON.stringify(message);
  written.set(message, json);
  return json;
}
