import {
  type ToolCall,
  ToolCallView,
  useAgentState,
  useForms,
  usePermissions,
  useToolCalls,
  useToolUI,
  useUsage,
} from "@parley/react";

export function Agent() {
  const { state, reason } = useAgentState();
  return <p>{`The agent: ${reason ?? state}`}</p>;
}

export function Calls() {
  useToolUI("get_weather", Weather);
  const calls = useToolCalls();
  return calls.map(({ toolUseId }) => <ToolCallView key={toolUseId} toolUseId={toolUseId} fallback={OtherCall} />);
}

function Weather({ call }: { readonly call: ToolCall }) {
  return <p>{`The weather: ${call.output ?? "…"}`}</p>;
}

function OtherCall({ call }: { readonly call: ToolCall }) {
  return <p>{`${call.name}: ${call.status}`}</p>;
}

export function Questions() {
  const { open, approve, reject } = usePermissions();
  return open.map(({ id, title }) => (
    <p key={id}>
      <span>{title}</span>
      <button onClick={() => void approve(id)}>Allow</button>
      <button onClick={() => void reject(id, { message: "Not today" })}>Refuse</button>
    </p>
  ));
}

export function Forms() {
  return useForms().map(({ id, message, answer }) => (
    <p key={id}>
      <span>{message}</span>
      <button onClick={() => answer({ action: "decline" })}>Decline</button>
    </p>
  ));
}

export function Spent() {
  const { usage } = useUsage();
  const tokens = usage?.models.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens) ?? [];
  return <p>{`${tokens.reduce((sum, each) => sum + each, 0)} tokens`}</p>;
}
