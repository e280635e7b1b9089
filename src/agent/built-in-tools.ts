/** Built-in tools that parley.config.ts switches on. Every agent has them, whatever its `tools` names. */
export const BUILT_IN_TOOLS: readonly string[] = ["recall", "remember", "forget"];
