import { runSdkProgram } from "./sdk-program.ts";

/** A client that passes: our SDK. */
await runSdkProgram();
