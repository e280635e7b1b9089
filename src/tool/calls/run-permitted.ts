import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts, type CallTurn } from "./call-ports.ts";
import { routeCall, type FoundTool } from "../directory.ts";
import { tryParse } from "../input-schema.ts";
import { permissionNeed, type PermissionNeed, type Permit } from "../permission-need.ts";
import { refuse } from "./refuse.ts";
import { runOnClient } from "./run-on-client.ts";
import { runOnServer } from "./run-on-server.ts";

interface PermittedRun {
  readonly tool: FoundTool;
  /** Checked. */
  readonly input: unknown;
  readonly turn: CallTurn;
  readonly ports: CallPorts;
}

interface JudgedRun extends PermittedRun {
  readonly need: PermissionNeed;
}

/** Hands the call to whoever runs it, once it may run; at once where nobody need be asked. */
export function runPermitted(call: OpenCall, run: PermittedRun): Promise<void> | undefined {
  const { tool, input, turn, ports } = run;
  const route = routeCall(tool, ports.hosts(turn.participant));
  const askedOf = "identity" in route ? route.identity : turn.participant;
  const need = permissionNeed(tool, input);
  const permit = ports.permit(call, { ...need, askedOf }, turn);
  if (permit instanceof Promise) return whenAnswered(call, permit, { ...run, need });
  if (permit.isAllowed) return handOver(call, { ...run, need });
  return refuse(call, ports, ["permission_denied", `Not run: ${permit.why}`]);
}

async function whenAnswered(call: OpenCall, asked: Promise<Permit>, run: JudgedRun): Promise<void> {
  const { tool, ports } = run;
  const { id } = call.current;
  ports.ledger.setWaiting(id, true);
  const permit = await asked;
  ports.ledger.setWaiting(id, false);
  if (!permit.isAllowed) return refuse(call, ports, ["permission_denied", `Not run: ${permit.why}`]);
  const { editedInput, askedOf } = permit;
  const edited = editedInput && tryParse(tool.input, editedInput);
  if (edited && "error" in edited) {
    const why = `The arguments as the participant changed them cannot be used. ${edited.error}`;
    return refuse(call, ports, ["invalid_parameters", why]);
  }
  // The rules have judged what was shown; whoever changes it may not go further than they let anybody go.
  const need = edited ? permissionNeed(tool, edited.value) : run.need;
  const denied = edited && ports.denialOf(call.current, need);
  if (denied !== undefined) return refuse(call, ports, ["permission_denied", `Not run: ${denied}`]);
  if (editedInput) ports.ledger.update(id, { editedInput });
  await handOver(call, edited ? { ...run, input: edited.value, need } : run, askedOf);
}

/** Routes it anew: devices may have come and gone while somebody was asked, and leave is for that one's own alone. */
function handOver(call: OpenCall, permitted: JudgedRun, askedOf?: string): Promise<void> | undefined {
  const { tool, input, turn, ports, need } = permitted;
  const isOwn = askedOf === undefined || askedOf === turn.participant;
  const hosts = ports.hosts(turn.participant).filter(({ identity }) => identity === (askedOf ?? identity));
  const run = { tool: isOwn ? tool : onDeviceOnly(tool), input, ports, permitted: need.values };
  const route = routeCall(run.tool, hosts);
  if (route.to === "server") return runOnServer(call, run);
  if (route.to !== "nobody") return runOnClient(call, { ...run, route, wasAsked: false });
  const why = `Tool '${tool.name}' is not available on any connected device`;
  return refuse(call, ports, ["unknown_tool", why]);
}

function onDeviceOnly({ run: _onServer, ...tool }: FoundTool): FoundTool {
  return { ...tool, execution: "client" };
}
