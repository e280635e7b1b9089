/** Tools that parley.config.ts switches on: they are every agent's, whatever tools it names. */
export const BUILT_IN_TOOLS: readonly string[] = ["recall", "remember", "forget"];
