import { FLAWS, withFlaw } from "./flaws.ts";
import { runSdkProgram } from "./sdk-program.ts";

/** A client with one mistake, named on the command line. */
const flaw = FLAWS[process.argv[2] as keyof typeof FLAWS];
await runSdkProgram((transport) => withFlaw(flaw, transport));
