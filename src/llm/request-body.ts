import type { ModelRequest } from "./build-request.ts";

/** By message. A talk's messages are sent again with every request, and stay what they are. */
const written = new WeakMap<object, string>();

/** The JSON of a request for a stream. What it costs does not grow with the messages that an earlier request had. */
export function toBody({ messages, ...rest }: ModelRequest): string {
  const before = JSON.stringify({ ...rest, stream: true }).slice(0, -1);
  return `${before},"messages":[${messages.map(toJson).join()}]}`;
}

function toJson(message: object): string {
  const known = written.get(message);
  if (known !== undefined) return known;
  const json = JSON.stringify(message);
  written.set(message, json);
  return json;
}
