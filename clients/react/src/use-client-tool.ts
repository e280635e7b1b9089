import type { ClientTool } from "@parley/client";
import { useEffect, useRef } from "react";
import { useTalkClient } from "./parley-provider.tsx";

type ToolOptions<Input> = Omit<ClientTool<Input>, "name" | "input" | "run">;

const FIELDS = "Its fields are description, timeoutMs, execution, scope, readOnly and run.";

/**
 * Offers a tool to the model while the component is mounted. Changes to the name, input and options take effect
 * immediately. `run` is always the function from the last render.
 *
 * @throws {TypeError} for an unknown field
 * @param input the same as `ClientTool.input`; create it outside the component
 * @param tool `description`, `run`, and optional fields of a `ClientTool`
 * @example
 * useClientTool("set_theme", themeInput, {
 *   description: "Switches the page between light and dark.",
 *   run: ({ theme }) => setTheme(theme),
 * });
 */
export function useClientTool<Input>(
  name: string,
  input: ClientTool<Input>["input"],
  tool: ToolOptions<Input> & Pick<ClientTool<Input>, "run">,
): void {
  const client = useTalkClient();
  const latest = useRef(tool);
  useEffect(() => {
    latest.current = tool;
  });
  const { description, timeoutMs, execution, scope, readOnly, run: _run, ...unknown } = tool;
  for (const field of Object.keys(unknown))
    throw new TypeError(`useClientTool: "${field}" is not a field of a tool. ${FIELDS}`);
  useEffect(
    () =>
      client.offer<Input>({
        name,
        input,
        description,
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(execution !== undefined && { execution }),
        ...(scope !== undefined && { scope }),
        ...(readOnly !== undefined && { readOnly }),
        run: (value, context) => latest.current.run(value, context),
      }),
    [client, name, input, description, timeoutMs, execution, scope, readOnly],
  );
}
