import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts, type CallTurn } from "./call-ports.ts";
import { routeCall, type FoundTool } from "./directory.ts";
import { tryParse } from "./input-schema.ts";
import { failure } from "./outcome.ts";
import { permissionNeed, type Permit } from "./permission-need.ts";
import { runOnClient } from "./run-on-client.ts";
import { runOnServer } from "./run-on-server.ts";

interface PermittedRun {
  readonly tool: FoundTool;
  /** Checked. */
  readonly input: unknown;
  readonly turn: CallTurn;
  readonly ports: CallPorts;
}

/** Hands the call to whoever runs it, once it may run; at once where nobody need be asked. */
export function runPermitted(call: OpenCall, run: PermittedRun): Promise<void> | undefined {
  const { tool, input, turn, ports } = run;
  const permit = ports.permit(call, permissionNeed(tool, input), turn);
  if (permit instanceof Promise) return whenAnswered(call, permit, run);
  if (permit.isAllowed) return handOver(call, run);
  return refuse(call, run, ["permission_denied", permit.why]);
}

async function whenAnswered(call: OpenCall, asked: Promise<Permit>, run: PermittedRun): Promise<void> {
  const { tool, ports } = run;
  const { id } = call.current;
  ports.ledger.setWaiting(id, true);
  const permit = await asked;
  ports.ledger.setWaiting(id, false);
  if (!permit.isAllowed) return refuse(call, run, ["permission_denied", permit.why]);
  const { editedInput } = permit;
  const edited = editedInput && tryParse(tool.input, editedInput);
  if (edited && "error" in edited) {
    const why = `The arguments as the participant changed them cannot be used. ${edited.error}`;
    return refuse(call, run, ["invalid_parameters", why]);
  }
  // The rules have judged what was shown; whoever changes it may not go further than they let anybody go.
  const denied = edited && ports.denialOf(call.current, permissionNeed(tool, edited.value));
  if (denied !== undefined) return refuse(call, run, ["permission_denied", denied]);
  if (editedInput) ports.ledger.update(id, { editedInput });
  await handOver(call, edited ? { ...run, input: edited.value } : run);
}

function handOver(call: OpenCall, { tool, input, turn, ports }: PermittedRun): Promise<void> | undefined {
  const route = routeCall(tool, ports.hosts(turn.participant));
  const run = { tool, input, ports };
  if (route.to === "server") return runOnServer(call, run);
  if (route.to !== "nobody") return runOnClient(call, { ...run, route, wasAsked: false });
  const why = `Tool '${tool.name}' is not available on any connected device`;
  return refuse(call, { ports }, ["unknown_tool", why]);
}

function refuse(
  call: OpenCall,
  { ports }: Pick<PermittedRun, "ports">,
  [code, why]: Parameters<typeof failure>,
): undefined {
  ports.ledger.settle(call.current.id, failure(code, why));
}
