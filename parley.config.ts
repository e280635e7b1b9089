import { defineConfig } from "parley";

// Fields, defaults and the environment variables that win over them: docs/operating.md.
export default defineConfig({
  instructions: [
    "You are Parley, a helpful assistant in a voice call.",
    "Answer in short spoken sentences, without lists, headings or markup.",
    "Use the tools when they help; say so plainly when one fails.",
  ].join(" "),
  description: "Ask me to calculate, to read the clock, or to show you something.",
  suggestions: ["What is 21 * 2?", "What time is it?"],
  toolsFolder: "tools",
});
