import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Call, type CancelReason, formUseId, type Outcome, INITIAL_CALL_STATE } from "../../conversation/call.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";
import {
  ASK_USER,
  type AskUserInput,
  type FieldValue,
  type FormAnswer,
  type FormField,
  readForm,
} from "../../protocol/forms/form.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Elicitation, Elicited } from "../define-tool.ts";
import { compileForm } from "../form-schema.ts";
import { tryParse } from "../input-schema.ts";
import { failure, messageOf, success, timedOut } from "../outcome.ts";
import type { AnnouncedTool } from "../tool-routing.ts";
import type { OpenCall } from "./call-ledger.ts";
import type { CallPorts } from "./call-ports.ts";
import { cancelCall } from "./end-call.ts";
import { runOnClient } from "./run-on-client.ts";
import { untilStored } from "./run-on-server.ts";

/** One form field that is asked for in conversation. */
export interface SpokenQuestion {
  readonly field: FormField;
  /** Texts that are spoken or written before the question. */
  readonly before: readonly string[];
}

export interface FormPorts {
  readonly calls: CallPorts;
  /** How long to wait for an answer in conversation, for each field. */
  readonly waitMs: number;
  /** Returns the form with this id if an earlier worker showed it to a participant. Returns each form only once. */
  readonly takeOpenForm: (formId: string) => Call | undefined;
  /** Asks the call's participant. May stay pending if the call has ended. Never rejects. */
  readonly askInWords: (form: OpenCall, asked: SpokenQuestion) => Promise<FormAnswer>;
}

/**
 * One form request from a call. `index` is the request's index in the call, and stays the same if an idempotent tool
 * runs again.
 */
interface Request<Content> {
  readonly request: Elicitation<Content>;
  readonly index: number;
}

interface FormQuestion {
  readonly parent: OpenCall;
  readonly form: AskUserInput;
  readonly fields: readonly FormField[];
  /** Makes the form's id unique among the forms of its parent. */
  readonly key: string;
}

/** The number of invalid answers after which a form counts as canceled. */
const ATTEMPTS = 3;
const MAX_MESSAGE_LENGTH = 2_000;

/**
 * Asks the participant of a running call to fill in a form. Each form is recorded as a call. If a form is asked for in
 * conversation, each of its fields is recorded as a call instead. The id of such a call is derived from the asking call
 * and the question. So if the tool runs again on another worker, an answered question is not asked again, and a device
 * that shows the form keeps showing it.
 */
export async function fillInForm<Content>(
  parent: OpenCall,
  { request, index }: Request<Content>,
  ports: FormPorts,
): Promise<Elicited<Content>> {
  const { message } = request;
  if (typeof message !== "string" || message.trim() === "" || message.length > MAX_MESSAGE_LENGTH)
    throw new TypeError(`elicit: message: expected a string of at most ${MAX_MESSAGE_LENGTH} characters`);
  const { schema, fields } = compileForm(request.schema);
  let problem: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const form = { message, requestedSchema: schema.jsonSchema, ...(problem !== undefined && { problem }) };
    const answer = await ask({ parent, form, fields, key: `${index}.${attempt}` }, ports);
    if (answer.action !== "accept") return answer;
    const parsed = tryParse(schema, answer.content);
    if ("value" in parsed) return { action: "accept", content: parsed.value as Content };
    problem = parsed.error.replace(/^Invalid parameters?:? /u, "");
  }
  return { action: "cancel" };
}

async function ask(asked: FormQuestion, ports: FormPorts): Promise<FormAnswer> {
  const { parent, form } = asked;
  const { participant } = parent.current;
  const device = deviceOf(participant, form, ports.calls);
  const call = newForm(asked, {
    input: { ...form },
    timeoutMs: device?.timeoutMs ?? ports.calls.settings.defaultTimeoutMs,
  });
  const inherited = ports.takeOpenForm(call.id);
  const identity = inherited?.addressee ?? (device && participant);
  if (identity === undefined && !inherited)
    return ports.calls.clients.isPresent(participant) ? askInWords(asked, ports) : CANCELLED;
  return openForm(parent, inherited ?? call, {
    ports,
    run: (open) => {
      const route = { to: "client", identity: identity ?? participant } as const;
      const wasRequested = open.current.addressee !== undefined;
      const { input } = open.current;
      return runOnClient(open, { tool: { idempotent: true }, input, ports: ports.calls, route, wasRequested });
    },
  });
}

const CANCELLED: FormAnswer = { action: "cancel" };

/**
 * Returns the participant's own `ask_user` tool if it accepts the form. A client may use that name for another tool.
 */
function deviceOf(participant: string, form: AskUserInput, { clients }: CallPorts): AnnouncedTool | undefined {
  const tool = clients
    .hosts(participant)
    .find(({ identity }) => identity === participant)
    ?.tools?.get(ASK_USER);
  return tool && "value" in tryParse(tool.input, form) ? tool : undefined;
}

/**
 * Asks for one field after another, and stops at the first refusal or silence. A form without fields becomes a
 * yes-or-no question.
 */
async function askInWords({ parent, form, fields, key }: FormQuestion, ports: FormPorts): Promise<FormAnswer> {
  const { message, problem } = form;
  if (fields.length === 0) return confirm({ parent, form, key, fields }, ports);
  let content: Readonly<Record<string, FieldValue>> = {};
  for (const [index, field] of fields.entries()) {
    const input = { ...form, requestedSchema: schemaOf(field) };
    const call = newForm({ parent, key: `${key}.${field.name}` }, { input, timeoutMs: ports.waitMs });
    const before = index === 0 ? [problem ?? [], message].flat() : [];
    const answer = await askInConversation(parent, call, { ports, asked: { field, before } });
    if (answer.action !== "accept") return answer;
    content = { ...content, ...answer.content };
  }
  return { action: "accept", content };
}

async function confirm({ parent, form, key }: FormQuestion, ports: FormPorts): Promise<FormAnswer> {
  const properties = { accepted: { type: "boolean", title: form.message } };
  const [field] = readForm({ type: "object", properties, required: ["accepted"] });
  if (!field) return CANCELLED;
  const call = newForm({ parent, key }, { input: { ...form }, timeoutMs: ports.waitMs });
  const answer = await askInConversation(parent, call, { ports, asked: { field, before: [] } });
  if (answer.action !== "accept") return answer;
  return answer.content["accepted"] === true ? { action: "accept", content: {} } : { action: "decline" };
}

function askInConversation(
  parent: OpenCall,
  call: Call,
  { ports, asked }: { readonly ports: FormPorts; readonly asked: SpokenQuestion },
): Promise<FormAnswer> {
  return openForm(parent, ports.takeOpenForm(call.id) ?? call, {
    ports,
    run: (open) => runInWords(open, asked, ports),
  });
}

interface OpenFormOptions {
  readonly ports: FormPorts;
  /** Obtains the form's answer. The call is settled when this resolves, or soon after. */
  readonly run: (form: OpenCall) => Promise<void>;
}

/** Opens a form and resolves with its answer. If the asking call ends first, the form is withdrawn. */
async function openForm(parent: OpenCall, call: Call, { ports, run }: OpenFormOptions): Promise<FormAnswer> {
  const { ledger } = ports.calls;
  if (call.outcome) return toAnswer(call.outcome);
  parent.signal.throwIfAborted();
  if (ledger.openCount >= LIMITS.openCalls) throw new Error(`More than ${LIMITS.openCalls} calls are open`);
  const form = ledger.open(call);
  // The form waits for a participant, so new messages are answered in the meantime.
  ledger.setWaiting(call.id, true);
  const withdraw = () => cancelCall(form, reasonOf(parent.current), ports.calls);
  parent.signal.addEventListener("abort", withdraw, { once: true, signal: form.signal });
  try {
    await run(form);
  } catch (error) {
    ledger.settle(call.id, failure("execution_error", messageOf(error)));
    throw error;
  }
  return toAnswer(await form.settled);
}

/** Returns the reason for canceling a form whose call has ended. */
function reasonOf({ outcome }: Call): CancelReason {
  if (outcome?.state === "cancelled") return "interrupted";
  const isClosed = outcome?.state === "error" && outcome.errorCode === "outcome_unknown";
  return isClosed ? "closed" : "superseded";
}

async function runInWords(
  form: OpenCall,
  asked: SpokenQuestion,
  { calls, askInWords: askParticipant }: FormPorts,
): Promise<void> {
  const { id, timeoutMs, startedAt = Date.now() } = form.current;
  const deadlineAt = startedAt + timeoutMs;
  calls.ledger.update(id, { state: "running", executionResolved: "server", startedAt, deadlineAt });
  const timer = setTimeout(() => calls.ledger.settle(id, timedOut(timeoutMs)), deadlineAt - Date.now());
  try {
    await untilStored(form, calls);
    const answer = await Promise.race([askParticipant(form, asked), form.settled.then(() => undefined)]);
    if (answer) calls.ledger.settle(id, success({ ...answer }));
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the form's answer. Any other end counts as `cancel`: a timeout, or a client that left or failed. */
function toAnswer(outcome: Outcome): FormAnswer {
  if (outcome.state !== "success") return CANCELLED;
  const { action, content } = outcome.result;
  if (action === "accept") return { action, content: (isRecord(content) ? content : {}) as Record<string, FieldValue> };
  return action === "decline" ? { action } : CANCELLED;
}

function schemaOf({ name, schema, isRequired }: FormField): JsonObject {
  return { type: "object", properties: { [name]: schema }, required: isRequired ? [name] : [] };
}

function newForm(
  { parent, key }: Pick<FormQuestion, "parent" | "key">,
  { input, timeoutMs }: { readonly input: JsonObject; readonly timeoutMs: number },
): Call {
  const { id: parentId } = parent.current;
  const seed = canonicalize([parentId, key, input]) ?? "";
  const id = createHash("sha256").update(seed).digest("base64url").slice(0, 21);
  return {
    ...parent.current,
    ...INITIAL_CALL_STATE,
    id,
    toolUseId: formUseId(parentId, id),
    toolName: ASK_USER,
    mcpServer: undefined,
    input,
    timeoutMs,
    executionAsked: "client",
    idempotencyKey: id,
    onInterrupt: "finish",
    isBackground: false,
  };
}
