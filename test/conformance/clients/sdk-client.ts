import { runSdkProgram } from "./sdk-program.ts";

/** A client that passes all checks: our SDK. */
await runSdkProgram();
