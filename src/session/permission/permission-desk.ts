import type { Logger } from "pino";
import type { Call } from "../../conversation/call.ts";
import { AppError } from "../../errors/app-error.ts";
import { cleanText } from "../../lib/clean-json.ts";
import { createId } from "../../lib/id.ts";
import type { JsonObject } from "../../lib/json.ts";
import { literalPattern } from "../../permission/match-pattern.ts";
import { evaluateRules, isGranted } from "../../permission/evaluate-rules.ts";
import type { PermissionRule } from "../../permission/rule.ts";
import { toOperations } from "../../permission/to-operations.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { EditedInput, PermissionDecision, PermissionReply } from "../../store/permissions/reply-to-permission.ts";
import type { OpenCall } from "../../tool/calls/call-ledger.ts";
import type { CallTurn } from "../../tool/calls/call-ports.ts";
import { TOOL_TYPE, type AskedNeed, type PermissionNeed, type Permit } from "../../tool/permission-need.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import {
  checkEditedInput,
  hashInput,
  judgeCall,
  toPermit,
  toRuleText,
  refuseWithoutApprover,
  parseEditedInput,
} from "./judge-call.ts";
import { OpenPermissions } from "./open-permissions.ts";
import { PermissionDialogs } from "./permission-dialogs.ts";
import type { AnsweredRequest } from "../inbox/admission.ts";
import type { Outbox } from "../wire/outbox.ts";
import type { ParticipantState } from "../participants/participant-state.ts";
import type { Participants } from "../participants/participants.ts";
import type { PermissionStore } from "./permission-store.ts";
import type { SessionEvent } from "../events/session-event.ts";
import type { Recorder } from "../record/recorder.ts";
import type { RoomLink } from "../room/room-link.ts";
import { showOutsideTurn } from "../answer/answer-output.ts";
import type { VoicePort } from "../room/voice-port.ts";
import { WordedQuestions, type Saying } from "./worded-questions.ts";

/** The permission settings of the config. */
export interface PermissionPolicy {
  readonly rules: readonly PermissionRule[];
  /** Whether questions are spoken and can be answered with a short yes or no. */
  readonly byVoice: boolean;
  readonly waitMs: number;
}

interface PermissionDeskOptions {
  readonly sessionId: string;
  readonly store: PermissionStore;
  readonly policy: PermissionPolicy;
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly participants: Participants;
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  readonly voice?: Pick<VoicePort, "isTwoWay"> | undefined;
  readonly logger: Logger;
  readonly emit: (event: SessionEvent) => void;
  readonly recorder: Pick<Recorder, "durable">;
}

interface Asked extends AskedNeed {
  readonly whileRunning: boolean;
}

/** Decides whether a session's calls may run: by rules, by grants, or by asking a participant. */
export class PermissionDesk {
  readonly #options: PermissionDeskOptions;
  readonly #open: OpenPermissions;
  readonly #dialogs: PermissionDialogs;
  readonly #questions: WordedQuestions;

  constructor(options: PermissionDeskOptions) {
    this.#options = options;
    this.#dialogs = new PermissionDialogs(options);
    this.#open = new OpenPermissions({
      store: options.store,
      onExtended: (permission) => this.#notifyExtended(permission),
      logger: options.logger,
    });
    this.#questions = new WordedQuestions({ participants: options.participants, byVoice: options.policy.byVoice });
  }

  /** Decides whether a call may run. Rejects if the permission request cannot be stored. */
  permit(call: OpenCall, need: AskedNeed, turn: CallTurn): Permit | Promise<Permit> {
    const action = judgeCall(call.current.toolName, need, this.#options.policy.rules);
    if (action === "deny") return { isAllowed: false, why: toRuleText(need) };
    if (action === "allow" && !call.current.hasStoredPermission) return { isAllowed: true };
    return this.#request(call, { ...need, whileRunning: false }, turn);
  }

  /**
   * Like `permit`, but for an action of a running call, whose tool was permitted before the call started. If the call's
   * turn has ended, the question is shown in a separate message, provided that the participant is present, can read and
   * has no dialogs. Otherwise, if the question is asked in words at all, it is asked after the participant's next
   * answer (`sayAgain`).
   */
  permitRunning(call: OpenCall, need: PermissionNeed, turn: CallTurn | undefined): Permit | Promise<Permit> {
    const action = evaluateRules(toOperations(need), this.#options.policy.rules);
    if (action === "deny") return { isAllowed: false, why: toRuleText(need) };
    if (action === "allow") return { isAllowed: true };
    const asked = { ...need, approver: call.current.participant, whileRunning: true };
    return this.#request(call, asked, this.#sayingOf(call, turn));
  }

  #sayingOf({ current, signal }: OpenCall, turn: CallTurn | undefined): Saying {
    if (turn && !turn.signal.aborted) return turn;
    const { participant, messageId: previousId } = current;
    const participantState = this.#options.participants.get(participant);
    if (!participantState?.isPresent || participantState.isSip || participantState.features.has("permissions"))
      return { signal };
    const { language } = participantState;
    const aside = (text: string) => showOutsideTurn(text, { ...this.#options, previousId, participant, language });
    return { signal, aside };
  }

  /**
   * Returns why a rule denies the call, in words for the model, or `undefined` if no rule does. Neither a grant nor an
   * answer overrides a deny rule.
   */
  denialOf(call: Call, need: PermissionNeed): string | undefined {
    return judgeCall(call.toolName, need, this.#options.policy.rules) === "deny" ? toRuleText(need) : undefined;
  }

  /** Whether a tool's calls may always start at once, because nobody has to be asked. */
  isAlwaysAllowed(toolName: string, declaresPermission: boolean): boolean {
    if (declaresPermission) return false;
    return evaluateRules([{ type: TOOL_TYPE, value: toolName }], this.#options.policy.rules, "allow") === "allow";
  }

  /** Whether any participant is being asked for permission. */
  get isAsking(): boolean {
    return this.#open.records.length > 0;
  }

  /** Whether this participant is being asked for permission. */
  isAnyAwaited(from: string): boolean {
    return this.#open.records.some(({ participantIdentity }) => participantIdentity === from);
  }

  /** Returns the id of a question that this participant's next words may answer. */
  openQuestionId(from: string): string | undefined {
    return this.#questions.openQuestionId(from);
  }

  isAwaited(from: string, answer: AnsweredRequest): boolean {
    if (answer.kind !== "permission") return false;
    return this.#open.records.some(
      ({ id, participantIdentity }) => id === answer.permissionId && participantIdentity === from,
    );
  }

  /** Handles a PermissionResponse. A response that does not count is answered with an ErrorMessage. Never rejects. */
  handleResponse(from: ParticipantState, body: MessageBody<"permission_response">): Promise<void> {
    const refuse = (error: unknown) => this.#options.outbox.postError(error, from.identity, body.permissionId);
    return this.#answer(from, body).catch(refuse);
  }

  async #answer(from: ParticipantState, body: MessageBody<"permission_response">): Promise<void> {
    const { permissionId, response, message, editedInputJson } = body;
    const editedInput = editedInputJson === undefined ? undefined : parseEditedInput(editedInputJson);
    if (message !== undefined && message !== "" && response !== "reject")
      throw new AppError("malformed", "permission_response.message: only allowed with a rejection");
    if (editedInput && response === "reject")
      throw new AppError("malformed", "permission_response.editedInputJson: only allowed with an approval");
    const edited = editedInput && (await this.#checkEdited(from, permissionId, editedInput));
    const decision: PermissionDecision =
      response === "reject"
        ? { kind: "reject", ...(message && { message: cleanText(message) }) }
        : { kind: "approve", isAlways: response === "always", ...(edited && { edited }) };
    await this.#reply({ permissionId, by: from.identity, via: "data", decision });
  }

  /**
   * Takes a spoken or typed utterance (`via`) as the answer to the oldest question that accepts it from this
   * participant. Returns `false` if the utterance is not a yes or no to such a question, so that it is handled as a
   * message.
   */
  takeUtterance(from: ParticipantState, utterance: string, via: "voice" | "text"): boolean {
    const taken = this.#questions.take(from, utterance, via);
    if (!taken) return false;
    const { permissionId, answer } = taken;
    const decision: PermissionDecision = answer === "yes" ? { kind: "approve", isAlways: false } : { kind: "reject" };
    this.#reply({ permissionId, by: from.identity, via, decision }).catch((error: unknown) =>
      this.#options.outbox.postError(error, from.identity, permissionId),
    );
    return true;
  }

  /** Shows a participant its open requests again, and closes those that were decided while it was away. */
  showAgain({ identity }: ParticipantState): void {
    this.#dialogs.welcome(identity, this.#open.records);
  }

  /**
   * Asks this participant the open questions that were not asked in full, because a turn was cut off or an earlier
   * worker had asked them. Never rejects.
   */
  async sayAgain(participant: string, turn: Saying): Promise<void> {
    await this.#questions.sayAgain(participant, turn);
  }

  /**
   * Withdraws the requests that an earlier worker stored for a call, unless this worker is waiting for an answer to one
   * of them. Never rejects.
   */
  async withdraw({ id: callId }: Call): Promise<void> {
    if (this.#open.records.some((record) => record.callId === callId)) return;
    try {
      for (const permission of await this.#options.store.withdraw(callId)) this.#notifyReplied(permission);
    } catch (error) {
      this.#options.logger.warn({ callId, error }, "withdrawing permission request failed");
    }
  }

  /** Stops waiting. Open requests stay open in the store. */
  async close(): Promise<void> {
    await this.#open.close();
  }

  /** @throws {AppError} `malformed` for arguments that the request does not accept */
  async #checkEdited({ identity }: ParticipantState, permissionId: string, input: JsonObject): Promise<EditedInput> {
    const { store, sessionId, serverTools, policy } = this.#options;
    const permission = await store.load(permissionId);
    const isTheirs = permission?.sessionId === sessionId && permission.participantIdentity === identity;
    // Not checked here, because the store rejects such an answer and says why.
    if (!isTheirs || permission.state !== "asked") return { input, patterns: [] };
    const checked = checkEditedInput(permission, input, { serverTools, rules: policy.rules });
    if ("error" in checked) throw new AppError("malformed", `permission_response.editedInputJson: ${checked.error}`);
    return checked;
  }

  async #request(call: OpenCall, need: Asked, turn: Saying): Promise<Permit> {
    const { store, logger, emit, recorder } = this.#options;
    const { id: callId, toolName, participant, hasStoredPermission } = call.current;
    const { approver, type } = need;
    if (need.whileRunning || !hasStoredPermission) {
      // A permanent permission applies only in the approver's own turns. Other participants need permission each time.
      const grants = approver === participant ? await store.grants(approver) : [];
      const theirs = grants.filter((grant) => grant.toolName === toolName && (grant.type ?? type) === type);
      const granted = theirs.map(({ pattern }) => pattern);
      if (isGranted(need, granted)) return { isAllowed: true, approver };
      if (this.#isOutOfReach(need)) return refuseWithoutApprover();
    }
    // The request refers to its call, so the call must be stored first.
    await recorder.durable(callId);
    const record = await store.insert(this.#toRequest(call.current, need));
    const { id: permissionId } = record;
    const decided = this.#open.decided(record);
    const closed = new AbortController();
    if (record.state === "asked") {
      const withdraw = () => void this.#open.end({ permissionId, state: "withdrawn" });
      if (call.signal.aborted) withdraw();
      else call.signal.addEventListener("abort", withdraw, { once: true, signal: closed.signal });
      logger.info({ permissionId, callId, toolName, waitMs: record.leftMs }, "permission requested");
      emit({ type: "permission_asked", permission: record });
      this.#dialogs.show(record);
      void this.#questions.ask({ record, voiceApproval: need.voiceApproval, cut: closed.signal }, turn);
    }
    const permission = await decided;
    closed.abort();
    this.#questions.forget(permissionId);
    const { state, repliedVia: via } = permission;
    logger.info({ permissionId, callId, toolName, state, via }, "permission decided");
    this.#notifyReplied(permission);
    return toPermit(permission, call.current, need);
  }

  /** Whether the approver is a phone caller who could answer only by voice, which is not possible here. */
  #isOutOfReach({ approver, voiceApproval }: AskedNeed): boolean {
    const { participants, policy, voice } = this.#options;
    const canTalk = policy.byVoice && voiceApproval && voice?.isTwoWay === true;
    return participants.get(approver)?.isSip === true && !canTalk;
  }

  #toRequest(call: Call, need: Asked) {
    const { policy } = this.#options;
    const { toolName, input, participant, turnId, messageId } = call;
    const { type, values, title, metadata, editedInputSchema = null, approver, whileRunning } = need;
    return {
      id: createId(),
      turnId,
      callId: call.id,
      messageId,
      participantIdentity: approver,
      toolName,
      type,
      pattern: values.map(literalPattern),
      title,
      metadata: { ...metadata, toolName, input, ...(participant !== approver && { participant }) },
      inputHash: hashInput(call),
      editedInputSchema,
      whileRunning,
      waitMs: policy.waitMs,
    };
  }

  #notifyExtended(permission: PermissionRecord): void {
    this.#dialogs.show(permission);
    this.#options.emit({ type: "permission_extended", permission });
  }

  #notifyReplied(permission: PermissionRecord): void {
    this.#dialogs.close(permission);
    this.#options.emit({ type: "permission_replied", permission });
  }

  /** @throws {AppError} if the answer does not count */
  async #reply(reply: Omit<PermissionReply, "sessionId">): Promise<void> {
    const { store, sessionId } = this.#options;
    const decided = await store.reply({ ...reply, sessionId });
    if (typeof decided === "object") return this.#open.apply(decided);
    if (decided === "not_asked") throw new AppError("not_allowed", "The permission request is for another participant");
    if (decided === "unknown") throw new AppError("invalid_state", "There is no such permission request");
    throw new AppError("invalid_state", "The permission request is closed");
  }
}
