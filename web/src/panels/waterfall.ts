import { toExtraAnswers } from "../tools/extra-answers.ts";

/** A part of a turn, in ms from its beginning: the answer's start, or the first words of a spoken question. */
export interface Bar {
  readonly name: string;
  readonly kind: "model" | "wait" | "tool" | "speech" | "late";
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Waterfall {
  /** The answer's id. */
  readonly id: string;
  readonly totalMs: number;
  /** Time to the model's first word. */
  readonly firstWordMs?: number;
  readonly bars: readonly Bar[];
}

interface Seen {
  readonly at: number;
  readonly type: string;
  readonly json: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** When a spoken question was heard. */
interface Heard {
  readonly first: number;
  last: number;
}

interface Turn {
  readonly id: string;
  readonly from: number;
  readonly heard: Heard | undefined;
  readonly isSpoken: boolean;
  to: number;
  firstWord?: number;
  firstSentence?: number;
  lastSentence?: number;
  readonly calls: Map<string, Call>;
  readonly questions: Map<string, Question>;
}

interface Call {
  readonly name: string;
  readonly asked: number;
  started?: number;
  ended?: number;
  /** When answers came that were too late, and changed nothing. */
  readonly late: number[];
}

/** A permission request. */
interface Question {
  readonly callId: string;
  readonly asked: number;
  answered?: number;
}

/** The parts of each turn, from the worker's messages in the order in which they came. */
export function toWaterfalls(events: readonly Seen[]): readonly Waterfall[] {
  const turns = new Map<string, Turn>();
  const heard = new Map<string, Heard>();
  for (const { at, type, json } of events) {
    const body = parse(json);
    const id = String(body["id"]);
    if (type === "transcription") {
      const known = heard.get(id);
      if (known) known.last = at;
      // Not a text that another participant has written: it comes once, as final, and was not heard.
      else if (body["participant"] === undefined || body["final"] !== true) heard.set(id, { first: at, last: at });
    }
    if (type === "start_answer") {
      const isSpoken = String(body["answerType"]).includes("voice");
      const question = heard.get(String(body["previousId"]));
      turns.set(id, { id, from: at, to: at, isSpoken, heard: question, calls: new Map(), questions: new Map() });
    }
    const turn = turns.get(turnOf(type, body));
    if (turn) note(turn, { at, type, body });
    if (type === "permission_response") noteAnswer([...turns.values()], String(body["permissionId"]), at);
  }
  return [...turns.values()].map(toWaterfall);
}

function turnOf(type: string, body: Fields): string {
  if (type === "block_event") return String(body["turnId"]);
  if (type === "assistant_sentence") return String(body["previousId"]);
  if (type === "permission_request") return String(body["messageId"]);
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
  if (type === "tool_call_state" && noteLate(turn, at, body)) return;
  turn.to = at;
  if (type === "permission_request") noteQuestion(turn, at, body);
  if (type === "block_event" && body["event"] === "block_delta") turn.firstWord ??= at;
  if (type === "assistant_sentence" && body["text"] !== "") {
    turn.firstSentence ??= at;
    turn.lastSentence = at;
  }
  if (type !== "tool_call_state") return;
  const id = String(body["id"]);
  const call = turn.calls.get(id) ?? { name: String(body["name"]), asked: at, late: [] };
  turn.calls.set(id, call);
  if (body["status"] !== "pending") call.started ??= at;
  if (body["status"] !== "pending" && body["status"] !== "running") call.ended ??= at;
}

type ToldCall = Parameters<typeof toExtraAnswers>[0];

/** Notes a state that only tells of an answer after the call's end. @returns whether it was one */
function noteLate({ calls }: Turn, at: number, body: Fields): boolean {
  const call = calls.get(String(body["id"]));
  const told = { status: body["status"], ...parse(String(body["metadataJson"])) } as ToldCall;
  if (call?.ended === undefined || toExtraAnswers(told).length <= call.late.length) return false;
  call.late.push(at);
  return true;
}

/** Notes a question, which comes again when it gets more time. */
function noteQuestion({ questions }: Turn, at: number, body: Fields): void {
  const id = String(body["id"]);
  if (!questions.has(id)) questions.set(id, { callId: String(body["callId"]), asked: at });
}

function noteAnswer(turns: readonly Turn[], id: string, at: number): void {
  const question = turns.find(({ questions }) => questions.has(id))?.questions.get(id);
  if (question) question.answered ??= at;
}

function toWaterfall(turn: Turn): Waterfall {
  const { id, from, to, heard, isSpoken, firstWord, firstSentence, lastSentence = to, calls } = turn;
  const zero = heard?.first ?? from;
  const bar = (name: string, kind: Bar["kind"], [start, end]: readonly [number, number]): Bar => ({
    name,
    kind,
    fromMs: start - zero,
    toMs: end - zero,
  });
  const bars = [
    ...(heard ? [bar("Heard", "speech", [heard.first, heard.last])] : []),
    ...(heard ? [bar("To the end of the turn", "wait", [heard.last, from])] : []),
    ...(firstWord === undefined ? [] : [bar("Model, to its first word", "model", [from, firstWord])]),
    ...[...calls].flatMap(([callId, { name, asked, started = to, ended = to, late }]) => {
      const questions = [...turn.questions.values()].filter((question) => question.callId === callId);
      const answers = questions.map(({ answered = to }) => answered);
      // From the moment at which it may run, until somebody claims it or it begins.
      const free = Math.max(asked, ...answers.filter((answered) => answered <= started));
      return [
        ...questions.map((question) =>
          bar(`${name}: waits for permission`, "wait", [question.asked, question.answered ?? to]),
        ),
        ...(started > free ? [bar(`${name}: waits`, "wait", [free, started])] : []),
        bar(`${name}: runs`, "tool", [started, ended]),
        ...late.map((at) => bar(`${name}: late answer`, "late", [ended, at])),
      ];
    }),
    ...(isSpoken && firstSentence !== undefined && firstWord !== undefined
      ? [bar("To the first sound", "wait", [firstWord, Math.max(firstWord, firstSentence)])]
      : []),
    ...(firstSentence === undefined
      ? []
      : [bar(isSpoken ? "Speaks" : "Sentences", "speech", [firstSentence, lastSentence])]),
  ];
  return { id, totalMs: to - zero, ...(firstWord !== undefined && { firstWordMs: firstWord - from }), bars };
}
