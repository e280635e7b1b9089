import type { Logger } from "pino";
import { AppError } from "../../errors/app-error.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import { offeredTools, type OfferedTool, type TurnDevice } from "../../tool/tool-routing.ts";
import type { PermissionDesk } from "../permission/permission-desk.ts";
import type { Offer } from "../model/open-stream.ts";
import type { Outbox } from "../wire/outbox.ts";

interface ToolOfferOptions {
  readonly outbox: Pick<Outbox, "postError">;
  readonly logger: Pick<Logger, "warn">;
  readonly permissions: Pick<PermissionDesk, "isAlwaysAllowed">;
}

/**
 * Decides which tools are offered to the model, and which of them may start early. Omits tools that the model's API has
 * rejected.
 */
export class ToolOffer {
  readonly #options: ToolOfferOptions;
  readonly #refusedSchemas = new WeakSet<object>();

  constructor(options: ToolOfferOptions) {
    this.#options = options;
  }

  /** Returns the tools that the model may use now, in a turn whose calls may be sent to these devices. */
  make(
    serverTools: ReadonlyMap<string, ServerTool>,
    hosts: readonly TurnDevice[],
    shown: { readonly isCompacted: boolean },
  ): Offer {
    const tools = offeredTools(serverTools, hosts, shown);
    return {
      tools: tools.filter(({ inputSchema }) => !this.#refusedSchemas.has(inputSchema)),
      onRefusedTool: (tool, field) => this.#omit(tool, field),
    };
  }

  /** Whether a call may start before the model has finished its message. */
  startsEarly(tool: ServerTool | undefined): boolean {
    if (!tool?.readOnly) return false;
    return this.#options.permissions.isAlwaysAllowed(tool.name, tool.permission !== undefined);
  }

  /** Omits a rejected tool from the model's requests until it is announced or listed again. */
  #omit({ name, inputSchema, owner }: OfferedTool, field: string): void {
    this.#refusedSchemas.add(inputSchema);
    this.#options.logger.warn({ tool: name, owner, field }, "tool omitted, rejected by the model API");
    const error = new AppError("malformed", `Tool "${name}": the model API rejected its ${field}`);
    if (owner !== undefined) this.#options.outbox.postError(error, owner);
  }
}
