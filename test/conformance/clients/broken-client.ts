import { withFlaws } from "./flaws.ts";
import { runSdkProgram } from "./sdk-program.ts";

/** A client with the mistakes that are named on the command line. */
await runSdkProgram((transport) => withFlaws(process.argv.slice(2), transport));
