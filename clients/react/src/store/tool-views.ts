import type { ComponentType } from "react";
import type { ToolCall } from "./tool-call.ts";
import { ObservableStore } from "./observable-store.ts";

type View = ComponentType<{ readonly call: ToolCall }>;

/** Maps tools to the components that show their calls. */
export class ToolViews extends ObservableStore {
  readonly #views = new Map<string, View>();

  get(toolName: string): View | undefined {
    return this.#views.get(toolName);
  }

  /** Sets a tool's component. Returns a function that removes the component. */
  set(toolName: string, view: View): () => void {
    this.#views.set(toolName, view);
    this.changed();
    return () => {
      if (this.#views.get(toolName) === view) this.#views.delete(toolName);
      this.changed();
    };
  }
}
