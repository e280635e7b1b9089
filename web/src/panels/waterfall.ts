/** A part of a turn, in ms from the answer's start. */
export interface Bar {
  readonly name: string;
  readonly kind: "model" | "wait" | "tool" | "speech";
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Waterfall {
  /** The answer's id. */
  readonly id: string;
  readonly totalMs: number;
  readonly bars: readonly Bar[];
}

interface Seen {
  readonly at: number;
  readonly type: string;
  readonly json: string;
}

type Fields = Readonly<Record<string, unknown>>;

interface Turn {
  readonly id: string;
  readonly from: number;
  to: number;
  firstWord?: number;
  firstSentence?: number;
  lastSentence?: number;
  readonly calls: Map<string, Call>;
}

interface Call {
  readonly name: string;
  readonly asked: number;
  started?: number;
  ended?: number;
}

/** The parts of each turn, from the worker's messages in the order in which they came. */
export function toWaterfalls(events: readonly Seen[]): readonly Waterfall[] {
  const turns = new Map<string, Turn>();
  for (const { at, type, json } of events) {
    const body = parse(json);
    if (type === "start_answer")
      turns.set(String(body["id"]), { id: String(body["id"]), from: at, to: at, calls: new Map() });
    const turn = turns.get(turnOf(type, body));
    if (turn) note(turn, { at, type, body });
  }
  return [...turns.values()].map(toWaterfall);
}

function turnOf(type: string, body: Fields): string {
  if (type === "block_event") return String(body["turnId"]);
  if (type === "assistant_sentence") return String(body["previousId"]);
  if (type === "tool_call_state") return String(parse(String(body["metadataJson"]))["messageId"]);
  return "";
}

function parse(json: string): Fields {
  try {
    return JSON.parse(json) as Fields;
  } catch {
    return {};
  }
}

function note(
  turn: Turn,
  { at, type, body }: { readonly at: number; readonly type: string; readonly body: Fields },
): void {
  turn.to = at;
  if (type === "block_event" && body["event"] === "block_delta") turn.firstWord ??= at;
  if (type === "assistant_sentence" && body["text"] !== "") {
    turn.firstSentence ??= at;
    turn.lastSentence = at;
  }
  if (type !== "tool_call_state") return;
  const id = String(body["id"]);
  const call = turn.calls.get(id) ?? { name: String(body["name"]), asked: at };
  turn.calls.set(id, call);
  if (body["status"] !== "pending") call.started ??= at;
  if (body["status"] !== "pending" && body["status"] !== "running") call.ended ??= at;
}

function toWaterfall({ id, from, to, firstWord, firstSentence, lastSentence, calls }: Turn): Waterfall {
  const bar = (name: string, kind: Bar["kind"], [start, end]: readonly [number, number]): Bar => ({
    name,
    kind,
    fromMs: start - from,
    toMs: end - from,
  });
  const bars = [
    ...(firstWord === undefined ? [] : [bar("Model, to its first word", "model", [from, firstWord])]),
    ...[...calls.values()].flatMap(({ name, asked, started = to, ended = to }) => [
      ...(started > asked ? [bar(`${name}: waits`, "wait", [asked, started])] : []),
      bar(`${name}: runs`, "tool", [started, ended]),
    ]),
    ...(firstSentence === undefined || lastSentence === undefined
      ? []
      : [bar("Sentences", "speech", [firstSentence, lastSentence])]),
  ];
  return { id, totalMs: to - from, bars };
}
