import { messageTypeOf, MESSAGES, type MessageType } from "../../../src/protocol/messages/messages.ts";

export interface Envelope {
  readonly stanzaId: number;
  readonly type: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A packet from a participant. */
export interface Heard {
  readonly envelope: Envelope;
  readonly from: string;
  readonly topic: string;
}

/** One mistake in a worker. */
export interface Flaw {
  /** Replaces or drops a packet that the worker receives. */
  readonly hear?: (heard: Heard, tell: (envelope: Envelope, to: string) => void) => Heard | undefined;
  /** Replaces or drops an envelope that the worker sends. */
  readonly say?: (envelope: Envelope, to: readonly string[]) => Envelope | undefined;
}

interface KnownFlaw {
  /** The id of the only check that finds this flaw. */
  readonly found: string;
  /** What the check reports when it finds this flaw. */
  readonly seen: RegExp;
  /** Creates the flaw for one room. */
  readonly make: () => Flaw;
}

const AGAIN = "-again";
const is = ({ type }: Envelope, name: MessageType) => messageTypeOf(type) === name;
const withBody = (envelope: Envelope, body: object): Envelope => ({ ...envelope, body: { ...envelope.body, ...body } });

export const FLAWS: Readonly<Record<string, KnownFlaw>> = {
  "answers an ErrorMessage with an ErrorMessage": {
    found: "refused.error",
    seen: /answered an ErrorMessage with another one/,
    make: () => ({
      hear: (heard, tell) => {
        const { envelope, from } = heard;
        const error = { id: "err_own", code: 101, message: "I do not understand", severity: 2, recoverable: true };
        const body = { conversationId: envelope["conversationId"], ...error };
        if (is(envelope, "error_message")) tell({ ...envelope, stanzaId: -1_000_000, meta: {}, body }, from);
        return heard;
      },
    }),
  },
  "answers a message for each stanza that it comes under": {
    found: "message.same-id",
    seen: /answered a message sent as two stanzas twice/,
    make: () => {
      const stanzas = new Map<unknown, number>();
      return {
        hear: (heard) => {
          const { envelope } = heard;
          const { id } = envelope.body;
          if (!is(envelope, "user_message") || typeof id !== "string") return heard;
          const isNew = (stanzas.get(id) ?? envelope.stanzaId) === envelope.stanzaId;
          stanzas.set(id, envelope.stanzaId);
          return isNew ? heard : { ...heard, envelope: withBody(envelope, { id: id + AGAIN }) };
        },
        say: (envelope) => {
          const { previousId } = envelope.body;
          const isAgain = is(envelope, "start_answer") && typeof previousId === "string" && previousId.endsWith(AGAIN);
          return isAgain ? withBody(envelope, { previousId: previousId.slice(0, -AGAIN.length) }) : envelope;
        },
      };
    },
  },
  "asks a device whatever the parameters are": {
    found: "call.checked-input",
    seen: /parameters do not match its schema/,
    make: () => ({
      say: (envelope) =>
        is(envelope, "tool_use_request") && envelope.body["toolName"] === "kit_number"
          ? withBody(envelope, { execution: "client" })
          : envelope,
    }),
  },
  "forgets how long a tool may take": {
    found: "call.timeout-announced",
    seen: /the request has 30000/,
    make: () => ({
      say: (envelope) => (is(envelope, "tool_use_request") ? withBody(envelope, { timeoutMs: 30_000 }) : envelope),
    }),
  },
  "does not send again what a client has missed": {
    found: "return.replay",
    seen: /were resent as $/,
    make: () => {
      const said = new Set<number>();
      return {
        say: (envelope) => {
          const isReplay = said.has(envelope.stanzaId);
          said.add(envelope.stanzaId);
          return isReplay && is(envelope, "assistant_sentence") ? undefined : envelope;
        },
      };
    },
  },
  "takes anybody's answer to a request": {
    found: "other.cannot-answer",
    seen: /has the output .*bob/,
    make: () => {
      const addressees = new Map<unknown, string>();
      let taken = 0;
      return {
        hear: (heard, tell) => {
          const { envelope, from } = heard;
          const addressee = addressees.get(envelope.body["id"]) ?? from;
          if (!is(envelope, "tool_use_result") || addressee === from) return heard;
          const { conversationId } = envelope.body;
          const body = { conversationId, acknowledgedStanzaId: envelope.stanzaId, success: true };
          tell({ ...envelope, stanzaId: 0, type: MESSAGES.acknowledgement.number, meta: {}, body }, from);
          taken += 1;
          return { ...heard, envelope: { ...envelope, stanzaId: 900_000 + taken }, from: addressee };
        },
        say: (envelope, [to = ""]) => {
          if (is(envelope, "tool_use_request")) addressees.set(envelope.body["id"], to);
          return envelope;
        },
      };
    },
  },
  "writes nil for what it does not know": {
    found: "write.no-nil",
    seen: /locale is nil/,
    make: () => ({
      say: (envelope) => (is(envelope, "start_answer") ? { ...envelope, meta: { locale: null } } : envelope),
    }),
  },
  "reads other applications' packets": {
    found: "message.other-topic",
    seen: /answered a message on another topic/,
    make: () => ({ hear: (heard) => ({ ...heard, topic: "parley" }) }),
  },
  "leaves out what it cannot show": {
    found: "content.attached-refused",
    seen: /error_message from the worker did not arrive/,
    make: () => ({
      hear: (heard) => {
        const { attachments, ...body } = heard.envelope.body;
        const isWhole = body["content"] === "" || !is(heard.envelope, "user_message");
        return isWhole || attachments === undefined ? heard : { ...heard, envelope: { ...heard.envelope, body } };
      },
    }),
  },
  "shows everybody the pictures of a device": {
    found: "content.no-bytes-back",
    seen: /A tool_call_state contains the picture's bytes/,
    make: () => {
      const shown = new Map<unknown, unknown>();
      return {
        hear: (heard) => {
          const { id, content } = heard.envelope.body;
          if (is(heard.envelope, "tool_use_result") && content !== undefined) shown.set(id, content);
          return heard;
        },
        say: (envelope) => {
          const { id, status } = envelope.body;
          const isIts = is(envelope, "tool_call_state") && status === "success" && shown.has(id);
          return isIts ? withBody(envelope, { content: shown.get(id) }) : envelope;
        },
      };
    },
  },
  "repeats what it refuses": {
    found: "refused.without-content",
    seen: /a secret/,
    make: () => ({
      say: (envelope) =>
        is(envelope, "error_message")
          ? withBody(envelope, { message: `${String(envelope.body["message"])}, got "a secret"` })
          : envelope,
    }),
  },
  "lets a late result win": {
    found: "call.late-result",
    seen: /changed the call's status to success/,
    make: () => {
      const failed = new Map<unknown, Envelope>();
      const won = new Set<unknown>();
      return {
        say: (envelope) => {
          const { id, status } = envelope.body;
          if (!is(envelope, "tool_call_state") || status !== "error") return envelope;
          failed.set(id, envelope);
          return won.has(id) ? withBody(envelope, { status: "success" }) : envelope;
        },
        hear: (heard, tell) => {
          const { envelope, from } = heard;
          const state = failed.get(envelope.body["id"]);
          if (!is(envelope, "tool_use_result") || !state) return heard;
          won.add(envelope.body["id"]);
          tell({ ...withBody(state, { status: "success" }), stanzaId: state.stanzaId - 500_000 }, from);
          return heard;
        },
      };
    },
  },
};
