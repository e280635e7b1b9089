// Imported before anything else, here and (through `process.execArgv`) in the job processes.

// @livekit/agents and @livekit/rtc-node log to `process.stdout`, and neither can be told to do otherwise; ours holds the
// ready line and nothing else. Checked with @livekit/agents 1.9.0 and @livekit/rtc-node 0.13.35.
Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr });
// Anything else makes @livekit/rtc-node log each of its steps.
process.env["NODE_ENV"] ??= "production";
// Ctrl-C in a terminal reaches job processes too, and would end one that is still starting; the worker ends them itself.
if (process.send !== undefined) process.on("SIGINT", () => {});
