import { type Logger } from "pino";
import { AppError } from "../errors/app-error.ts";
import { cleanJson, cleanText } from "../lib/clean-json.ts";
import { createId } from "../lib/id.ts";
import { isRecord, type JsonObject } from "../lib/json.ts";
import { decide, isGranted } from "../permission/decide.ts";
import { readSpokenAnswer } from "../permission/read-spoken-answer.ts";
import { type PermissionRule } from "../permission/rule.ts";
import { type MessageBody } from "../protocol/messages.ts";
import { type PermissionRecord } from "../store/permission-record.ts";
import { type EditedInput, type PermissionDecision, type PermissionReply } from "../store/reply-to-permission.ts";
import { type Call } from "../tool/call.ts";
import { type OpenCall } from "../tool/call-ledger.ts";
import { type CallTurn } from "../tool/call-ports.ts";
import { TOOL_TYPE, type PermissionNeed, type Permit } from "../tool/permission-need.ts";
import { type ServerTool } from "../tool/server-tool.ts";
import { checkEditedInput } from "./check-edited-input.ts";
import { hashInput } from "./hash-input.ts";
import { judge } from "./judge.ts";
import { OpenPermissions } from "./open-permissions.ts";
import { PermissionDialogs } from "./permission-dialogs.ts";
import { type Outbox } from "./outbox.ts";
import { type Peer } from "./peer.ts";
import { type Peers } from "./peers.ts";
import { type PermissionStore } from "./permission-store.ts";
import { type SessionEvent } from "./session-event.ts";
import { toSpokenQuestion } from "./spoken-question.ts";
import { toDenial, toPermit, toUnaskable } from "./to-permit.ts";
import { type VoicePort } from "./voice-port.ts";

/** What the config says of permissions. */
export interface PermissionPolicy {
  readonly rules: readonly PermissionRule[];
  /** Whether the question is said, and a short yes or no answers it. */
  readonly byVoice: boolean;
  /** How long an answer is waited for. */
  readonly waitMs: number;
}

interface PermissionDeskOptions {
  readonly sessionId: string;
  readonly store: PermissionStore;
  readonly policy: PermissionPolicy;
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly peers: Peers;
  readonly outbox: Outbox;
  readonly voice?: Pick<VoicePort, "isTwoWay"> | undefined;
  readonly logger: Logger;
  readonly tell: (event: SessionEvent) => void;
}

interface Question {
  readonly record: PermissionRecord;
  /** It need not be said any more. */
  readonly cut: AbortSignal;
}

/** Where a session's calls get leave to run: by the rules, by what was granted before, or by asking the participant. */
export class PermissionDesk {
  readonly #options: PermissionDeskOptions;
  readonly #open: OpenPermissions;
  readonly #dialogs: PermissionDialogs;
  /** Requests whose question has been said in full, and that an utterance may answer. */
  readonly #said = new Set<string>();
  /** Those whose question is to be said, and has not been yet, or not in full. */
  readonly #unsaid = new Map<string, Question>();

  constructor(options: PermissionDeskOptions) {
    this.#options = options;
    this.#open = new OpenPermissions(options);
    this.#dialogs = new PermissionDialogs(options);
  }

  /** Rejects when the request cannot be stored. */
  permit(call: OpenCall, need: PermissionNeed, turn: CallTurn): Permit | Promise<Permit> {
    const action = judge(call.current.toolName, need, this.#options.policy.rules);
    if (action === "deny") return { isAllowed: false, why: toDenial(need) };
    if (action === "allow" && !call.current.wasAskedFor) return { isAllowed: true };
    return this.#ask(call, need, turn);
  }

  /** Why a rule forbids it, for the model: no grant and no answer overrides that. */
  denialOf(call: Call, need: PermissionNeed): string | undefined {
    return judge(call.toolName, need, this.#options.policy.rules) === "deny" ? toDenial(need) : undefined;
  }

  /** Whether calls of a tool may start at once, without anybody being asked. */
  isFree(toolName: string, hasPermission: boolean): boolean {
    if (hasPermission) return false;
    return decide([{ type: TOOL_TYPE, pattern: toolName }], this.#options.policy.rules, "allow") === "allow";
  }

  /** An answer by data packet. One that does not count is answered with an error. */
  handleResponse(from: Peer, body: MessageBody<"permission_response">): void {
    const refuse = (error: unknown) => this.#options.outbox.postError(error, from.identity, body.permissionId);
    this.#answer(from, body).catch(refuse);
  }

  async #answer(from: Peer, body: MessageBody<"permission_response">): Promise<void> {
    const { permissionId, response, message, editedInputJson } = body;
    const editedInput = editedInputJson === undefined ? undefined : parseObject(editedInputJson);
    if (message !== undefined && message !== "" && response !== "reject")
      throw new AppError("malformed", "permission_response.message: expected none beside an approval");
    if (editedInput && response === "reject")
      throw new AppError("malformed", "permission_response.editedInputJson: expected none beside a rejection");
    const edited = editedInput && (await this.#checkEdited(from, permissionId, editedInput));
    const decision: PermissionDecision =
      response === "reject"
        ? { kind: "reject", ...(message && { message: cleanText(message) }) }
        : { kind: "approve", isAlways: response === "always", ...(edited && { edited }) };
    await this.#reply({ permissionId, by: from.identity, via: "data", decision });
  }

  /**
   * Whether an utterance is a yes or a no to the oldest question that this participant was asked and may answer so.
   * Then it is an answer, and no message.
   */
  takeUtterance(from: Peer, utterance: string, via: "voice" | "text"): boolean {
    const { identity, language } = from;
    if (!this.#options.policy.byVoice) return false;
    const asked = this.#open.records.find((one) => one.participantIdentity === identity && this.#said.has(one.id));
    const answer = asked && readSpokenAnswer(utterance, language);
    if (!answer) return false;
    // The next utterance is not for this request any more, whatever becomes of this one.
    this.#said.delete(asked.id);
    const decision: PermissionDecision = answer === "yes" ? { kind: "approve", isAlways: false } : { kind: "reject" };
    this.#reply({ permissionId: asked.id, by: identity, via, decision }).catch((error: unknown) =>
      this.#options.outbox.postError(error, identity, asked.id),
    );
    return true;
  }

  /** Shows a participant what it is asked, again, and what it is asked no longer: it may have lost it. */
  showAgain({ identity }: Peer): void {
    this.#dialogs.welcome(identity, this.#open.records);
  }

  /**
   * Says what this participant is asked and has not heard in full: a turn of its own was cut off, or an earlier worker
   * asked. Never rejects.
   */
  async sayAgain(participant: string, turn: Pick<CallTurn, "aside" | "signal">): Promise<void> {
    for (const question of this.#unsaid.values())
      if (question.record.participantIdentity === participant) await this.#say(question, turn);
  }

  /** A call that an earlier worker asked about has ended, perhaps because it cannot run any more. Never rejects. */
  async withdraw({ id: callId }: Call): Promise<void> {
    if (this.#open.records.some((record) => record.callId === callId)) return;
    try {
      const asked = await this.#options.store.load({ callId });
      if (asked?.state !== "asked") return;
      const permission = await this.#options.store.close({ permissionId: asked.id, state: "withdrawn" });
      if (permission) this.#tellOver(permission);
    } catch (error) {
      this.#options.logger.warn({ callId, error }, "a permission request could not be withdrawn");
    }
  }

  /** What is open stays open in the store. */
  async close(): Promise<void> {
    await this.#open.close();
  }

  /** @throws {AppError} `malformed` when they may not be put in the place of what was shown */
  async #checkEdited({ identity }: Peer, permissionId: string, input: JsonObject): Promise<EditedInput> {
    const { store, sessionId, serverTools, policy } = this.#options;
    const permission = await store.load({ permissionId });
    const isTheirs = permission?.sessionId === sessionId && permission.participantIdentity === identity;
    // The store refuses the answer then, and says why.
    if (!isTheirs || permission.state !== "asked") return { input, patterns: [] };
    const checked = checkEditedInput(permission, input, { serverTools, rules: policy.rules });
    if ("error" in checked) throw new AppError("malformed", `permission_response.editedInputJson: ${checked.error}`);
    return checked;
  }

  async #ask(call: OpenCall, need: PermissionNeed, turn: CallTurn): Promise<Permit> {
    const { store, logger, tell } = this.#options;
    const { id: callId, participant, toolName, wasAskedFor = false } = call.current;
    if (!wasAskedFor) {
      const grants = await store.grants(participant);
      const granted = grants.filter((grant) => grant.toolName === toolName).map(({ pattern }) => pattern);
      if (isGranted(need.patterns, granted)) return { isAllowed: true };
      if (this.#isOutOfReach(participant, need)) return toUnaskable();
    }
    const record = await store.insert(this.#toRequest(call.current, need));
    const { id: permissionId } = record;
    const decided = this.#open.decided(record);
    const isOver = new AbortController();
    if (record.state === "asked") {
      const withdraw = () => void this.#open.end({ permissionId, state: "withdrawn" });
      if (call.over.aborted) withdraw();
      else call.over.addEventListener("abort", withdraw, { once: true, signal: isOver.signal });
      logger.info({ permissionId, callId, toolName, waitMs: record.leftMs }, "permission asked");
      tell({ type: "permission_asked", permission: record });
      this.#dialogs.show(record);
      if (this.#options.policy.byVoice && need.voiceApproval) {
        const question = { record, cut: isOver.signal };
        this.#unsaid.set(permissionId, question);
        void this.#say(question, turn);
      }
    }
    const permission = await decided;
    isOver.abort();
    this.#said.delete(permissionId);
    this.#unsaid.delete(permissionId);
    const { state, repliedVia: via } = permission;
    logger.info({ permissionId, callId, toolName, state, via }, "permission decided");
    this.#tellOver(permission);
    return toPermit(permission, call.current);
  }

  /** A caller by telephone sees nothing and has its voice alone to answer with. */
  #isOutOfReach(participant: string, { voiceApproval }: PermissionNeed): boolean {
    const { peers, policy, voice } = this.#options;
    const canTalk = policy.byVoice && voiceApproval && voice?.isTwoWay === true;
    return peers.get(participant)?.isSip === true && !canTalk;
  }

  #toRequest(call: Call, need: PermissionNeed) {
    const { policy } = this.#options;
    const { toolName, input, participant, turnId, messageId } = call;
    const { type, patterns, title, metadata, editedInputSchema = null } = need;
    return {
      id: createId(),
      turnId,
      callId: call.id,
      messageId,
      participantIdentity: participant,
      toolName,
      type,
      pattern: patterns,
      title,
      metadata: { ...metadata, toolName, input },
      inputHash: hashInput(call),
      editedInputSchema,
      waitMs: policy.waitMs,
    };
  }

  #tellOver(permission: PermissionRecord): void {
    this.#dialogs.close(permission);
    this.#options.tell({ type: "permission_replied", permission });
  }

  /** A question that was cut off, or came when nobody listened any more, has not been said. */
  async #say({ record, cut }: Question, { aside, signal }: Pick<CallTurn, "aside" | "signal">): Promise<void> {
    const { id, title, participantIdentity } = record;
    if (!aside || signal.aborted || cut.aborted) return;
    await aside(toSpokenQuestion(title, this.#options.peers.get(participantIdentity)?.language), cut);
    if (signal.aborted || cut.aborted) return;
    this.#unsaid.delete(id);
    this.#said.add(id);
  }

  /** @throws {AppError} when the answer does not count */
  async #reply(reply: Omit<PermissionReply, "sessionId">): Promise<void> {
    const { store, sessionId } = this.#options;
    const decided = await store.reply({ ...reply, sessionId });
    if (typeof decided === "object") return this.#open.apply(decided);
    if (decided === "not_asked") throw new AppError("not_allowed", "Another participant was asked for this permission");
    const text = decided === "unknown" ? "There is no such permission" : "It was answered before, or has expired";
    throw new AppError("invalid_state", text);
  }
}

function parseObject(json: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new AppError("malformed", "permission_response.editedInputJson: expected JSON");
  }
  if (!isRecord(value)) throw new AppError("malformed", "permission_response.editedInputJson: expected an object");
  return cleanJson(value) as JsonObject;
}
