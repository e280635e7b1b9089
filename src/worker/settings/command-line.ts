import { parseArgs, type ParseArgsConfig, type ParseArgsOptionsConfig } from "node:util";
import { didYouMean } from "../../lib/checks/did-you-mean.ts";

/** An invalid command line. Its message is shown without a stack. */
export class UsageError extends Error {}

/** The command line asks for Parley's version. */
export class VersionRequest extends Error {}

/** The flag that every command has. */
const HELP = { help: { type: "boolean", short: "h", default: false } } as const;

/**
 * Parses the flags in `options`, and `--help`. A flag may be passed more than once only if it is `multiple`, because
 * otherwise only the last value would count.
 *
 * @throws {UsageError} for flags that are not in `options`, and for positional arguments
 * @throws {VersionRequest} for `--version`
 */
export function readFlags<const Options extends ParseArgsOptionsConfig>(args: readonly string[], options: Options) {
  return readArguments(args, options).values;
}

/** Like `readFlags`, but also returns positional arguments. @throws {UsageError} */
export function readWords<const Options extends ParseArgsOptionsConfig>(args: readonly string[], options: Options) {
  return readArguments(args, options, true);
}

function readArguments<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  ownOptions: Options,
  allowPositionals = false,
) {
  const options = { ...ownOptions, ...HELP };
  const known = [...Object.keys(options), "version"].map((name) => `--${name}`);
  const given = new Set<string>();
  for (const token of parseArgs({ args: [...args], options, strict: false, tokens: true }).tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName } = token;
    if (name === "version") throw new VersionRequest();
    const option: ParseArgsOptionsConfig[string] | undefined = options[name];
    if (!Object.hasOwn(options, name) || option === undefined)
      throw new UsageError(`${rawName} is not an option.${didYouMean(rawName, known)}`);
    if (given.has(name) && option.multiple !== true) throw new UsageError(`${rawName} is given twice`);
    given.add(name);
  }
  try {
    return parseArgs({ args: [...args], options, allowPositionals, strict: true } satisfies ParseArgsConfig);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "The command line could not be parsed", {
      cause: error,
    });
  }
}
