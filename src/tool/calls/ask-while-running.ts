import { abortable } from "../../lib/abortable.ts";
import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts } from "./call-ports.ts";
import { type ToolContext } from "../define-tool.ts";
import { type Deadline } from "./deadline.ts";
import { type FoundTool } from "../directory.ts";
import { PermissionDenied } from "../permission-denied.ts";
import { askedNeed, type Permit } from "../permission-need.ts";

interface RunningCall {
  readonly tool: Pick<FoundTool, "voiceApproval">;
  readonly ports: CallPorts;
  readonly deadline: Deadline;
}

/** How a running tool asks for leave. Its clock stands still until the last of its questions is answered. */
export function askWhileRunning(call: OpenCall, { tool, ports, deadline }: RunningCall): ToolContext["ask"] {
  let open = 0;
  const answered = async (asked: Promise<Permit>): Promise<Permit> => {
    const { id } = call.current;
    if (open++ === 0) {
      deadline.stop();
      ports.ledger.setWaiting(id, true);
      ports.ledger.update(id, { deadlineAt: undefined });
    }
    try {
      return await abortable(asked, call.over);
    } finally {
      if (--open === 0 && !call.over.aborted) {
        deadline.start();
        ports.ledger.setWaiting(id, false);
        ports.ledger.update(id, { deadlineAt: deadline.at });
      }
    }
  };
  const ask: ToolContext["ask"] = async (request) => {
    call.over.throwIfAborted();
    const permit = ports.ask(call, askedNeed(tool, request));
    const answer = permit instanceof Promise ? await answered(permit) : permit;
    if (!answer.isAllowed) throw new PermissionDenied(`Not allowed: ${answer.why}`);
  };
  return (request) => {
    const allowed = ask(request);
    // A tool that does not wait for it must not end the process.
    allowed.catch(() => {});
    return allowed;
  };
}
