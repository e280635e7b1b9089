import { withFlaws } from "./flaws.ts";
import { runSdkProgram } from "./sdk-program.ts";

/** A client with the mistakes that the command line lists. */
await runSdkProgram((transport) => withFlaws(process.argv.slice(2), transport));
