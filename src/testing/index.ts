export {
  answer,
  type Announced,
  type Behavior,
  type Behaviors,
  late,
  leave,
  never,
  throws,
  twice,
} from "./device/behavior.ts";
/** @deprecated The spelling used until 0.1: use `Behavior` and `Behaviors`. */
// cspell:disable-next-line
export type { Behavior as Behaviour, Behaviors as Behaviours } from "./device/behavior.ts";
export { cassette, type CassetteOptions } from "./cassette/cassette.ts";
export { type AgentOptions } from "./load-agent.ts";
export { type CallFields, matchers, type QuestionFields, type TurnMatchers } from "./matchers.ts";
export { real } from "./model/real.ts";
export { type Script, scripted, type ScriptedReply } from "./model/scripted.ts";
export { type TestModel } from "./model/test-model.ts";
export { type RecordedRequest } from "../model-server/model-server.ts";
export * as replies from "../model-server/step.ts";
export { showTurn } from "./show-turn.ts";
export { type RoomServers, startRoomServers } from "./stage/room-servers.ts";
export { startTalk, type TalkOptions } from "./start-talk.ts";
export { type PermissionAnswer, type PermissionOptions, type SayOptions, type Talk } from "./talk.ts";
export { type Question, type SeenCall, type Turn } from "./turn.ts";
