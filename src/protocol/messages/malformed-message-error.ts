import { AppError } from "../../errors/app-error.ts";
import { type MessageType } from "./message-types.ts";
import { type Execution } from "./tool-messages.ts";

/** What could be read of a message that cannot be used, so that it can still be acknowledged and answered. */
export interface ReadableParts {
  readonly stanzaId?: number;
  readonly conversationId?: string;
  /** The message's id; on a tool result the request's. */
  readonly id?: string;
  readonly typeName?: MessageType;
  /** Of a ToolUseRequest: whose it is, and for which tool. */
  readonly request?: { readonly execution?: Execution; readonly toolName?: string };
}

/** A packet that is refused, `malformed` or `too_large`, with what could be read of it. */
export class MalformedMessageError extends AppError {
  readonly parts: ReadableParts;

  constructor(message: string, parts: ReadableParts, code: "malformed" | "too_large" = "malformed") {
    super(code, message);
    this.parts = parts;
  }
}
