import type { ArmName } from "../arms/arm.ts";

/** The figures in table order: the name in JSON, the title for people, and the unit. */
export const FIGURES = {
  answer: { title: "question → whole answer", unit: "ms" },
  firstWord: { title: "question → first word", unit: "ms" },
  asked: { title: "question → the model is asked", unit: "ms" },
  toolAnswer: { title: "question → whole answer, with a client tool", unit: "ms" },
  toolOut: { title: "the model's call → the device runs it", unit: "ms" },
  toolBack: { title: "the device's result → the model is asked again", unit: "ms" },
  resultAck: { title: "the device's result → its Ack", unit: "ms" },
  clientCall: { title: "a request leaves the session's process → its result is accepted there", unit: "ms" },
  cpu: { title: "CPU of the session's process, a turn", unit: "ms" },
  toolCpu: { title: "CPU of the session's process, a turn with a client tool", unit: "ms" },
  databaseCpu: { title: "CPU of PostgreSQL, a turn", unit: "ms" },
  packet: { title: "a packet there and back", unit: "ms" },
  pausedPacket: { title: "a packet there and back, after a pause of 10 ms", unit: "ms" },
  rpc: { title: "an RPC", unit: "ms" },
  textStream: { title: "a text stream there and another back", unit: "ms" },
  modelCall: { title: "a model call by Anthropic's SDK, read to its end", unit: "ms" },
  select: { title: "`select 1`", unit: "ms" },
  insert: { title: "one insert, committed", unit: "ms" },
  longAnswer: { title: "question → whole answer, after many turns", unit: "ms" },
  longCpu: { title: "CPU of the session's process, a turn, after many turns", unit: "ms" },
  burst: { title: "all sessions ask at once → each whole answer", unit: "ms" },
  burstLast: { title: "all sessions ask at once → the last whole answer", unit: "ms" },
  quickWord: { title: "question → first word, after a pause", unit: "ms" },
  slowWord: { title: "question → first word, the database 100 ms slower", unit: "ms" },
  quickToolAnswer: { title: "question → whole answer, with a client tool, after a pause", unit: "ms" },
  slowToolAnswer: { title: "question → whole answer, with a client tool, the database 100 ms slower", unit: "ms" },
  words3k: { title: "CPU of the session's process, a delta of an answer of 3,000", unit: "µs" },
  words12k: { title: "CPU of the session's process, a delta of an answer of 12,000", unit: "µs" },
  input3k: { title: "CPU of the session's process, a delta of a tool input of 3,000", unit: "µs" },
  input12k: { title: "CPU of the session's process, a delta of a tool input of 12,000", unit: "µs" },
  join: { title: "joining a new room → an agent listens", unit: "ms" },
  roomsAtOnce: { title: "many rooms made at once → an agent listens in each", unit: "ms" },
  roomsAtOnceLast: { title: "many rooms made at once → an agent listens in the last", unit: "ms" },
  clientMessage: { title: "SDK: a sentence taken in", unit: "µs" },
  clientSend: { title: "SDK: a text sent", unit: "µs" },
  spanBegin: { title: "turn begins → model is asked", unit: "ms" },
  spanFirstCall: { title: "first model call", unit: "ms" },
  spanTool: { title: "tool call, from the model's block to its outcome", unit: "ms" },
  spanNext: { title: "last result → next model call begins", unit: "ms" },
  spanSecondCall: { title: "second model call", unit: "ms" },
  spanEnd: { title: "model's end → turn is stored", unit: "ms" },
  spanTurn: { title: "the whole turn", unit: "ms" },
} as const satisfies Record<string, { readonly title: string; readonly unit: string }>;
export type FigureName = keyof typeof FIGURES;

/** Quantiles of all values, and the median of each round. The spread of these medians is the noise. */
export interface Figure {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly rounds: readonly number[];
}
export type Figures = Partial<Record<FigureName, Partial<Record<ArmName, Figure>>>>;

/** The ratios to watch: a figure of one arm divided by another figure of the same round. */
export const RATIOS: readonly Ratio[] = [
  { of: ["answer", "parley"], to: ["answer", "agents-js"] },
  { of: ["answer", "parley"], to: ["answer", "agents-python"] },
  { of: ["toolAnswer", "parley"], to: ["toolAnswer", "agents-js"] },
  { of: ["toolAnswer", "parley"], to: ["toolAnswer", "agents-python"] },
  { of: ["cpu", "parley"], to: ["cpu", "agents-js"] },
  { of: ["toolCpu", "parley"], to: ["toolCpu", "agents-js"] },
  { of: ["answer", "parley"], to: ["textStream", "floor"] },
  { of: ["resultAck", "parley"], to: ["packet", "floor"] },
  { of: ["clientCall", "parley"], to: ["packet", "floor"] },
  { of: ["clientCall", "parley"], to: ["pausedPacket", "floor"] },
  { of: ["toolBack", "parley"], to: ["toolBack", "agents-js"] },
  { of: ["toolOut", "parley"], to: ["toolOut", "agents-js"] },
  { of: ["longAnswer", "parley"], to: ["longAnswer", "agents-js"] },
  { of: ["longAnswer", "parley"], to: ["answer", "parley"] },
  { of: ["longCpu", "parley"], to: ["cpu", "parley"] },
  { of: ["burst", "parley"], to: ["burst", "agents-js"] },
  { of: ["burst", "parley"], to: ["answer", "parley"] },
  { of: ["slowWord", "parley"], to: ["quickWord", "parley"] },
  { of: ["words12k", "parley"], to: ["words3k", "parley"] },
  { of: ["input12k", "parley"], to: ["input3k", "parley"] },
  { of: ["words12k", "parley"], to: ["words12k", "agents-js"] },
  { of: ["join", "parley"], to: ["join", "agents-js"] },
  { of: ["roomsAtOnce", "parley"], to: ["roomsAtOnce", "agents-js"] },
  { of: ["roomsAtOnceLast", "parley"], to: ["roomsAtOnceLast", "agents-js"] },
];
interface Ratio {
  readonly of: readonly [FigureName, ArmName];
  readonly to: readonly [FigureName, ArmName];
}

/** The median of the rounds' ratios, with the lowest and the highest ratio. */
export interface RatioFigure extends Ratio {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}
