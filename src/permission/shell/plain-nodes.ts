import type { SyntaxNode } from "unbash";
import { UNKNOWN } from "../../lib/glob.ts";
import { isOrdinaryName } from "./variable-names.ts";

/** Nodes that only join, quote or group their children. Each child is checked separately. */
const PLAIN: ReadonlySet<SyntaxNode["type"]> = new Set([
  "Statement",
  "CompoundList",
  "Pipeline",
  "Time",
  "Negation",
  "AndOr",
  "Command",
  "Redirected",
  "If",
  "Elif",
  "While",
  "Subshell",
  "BraceGroup",
  "Case",
  "CaseItem",
  "DoubleQuoted",
  "Glob",
  "ExtendedGlob",
  "BraceExpansion",
  "SimpleExpansion",
  "Redirect",
  "FileDescriptor",
  "HereString",
  "HereDoc",
  "HereDocDelimiter",
  "HereDocBody",
  "TestCommand",
  "TestLogical",
  "TestNot",
  "TestGroup",
  "Remove",
  "Replace",
  "CaseModification",
]);
/**
 * Tests whose operands the shell evaluates as arithmetic or as a variable name. Either may contain a subscript, and the
 * shell runs the commands in it.
 */
const EVALUATING_TESTS: ReadonlySet<string> = new Set("-eq -ne -lt -le -gt -ge -v -R".split(" "));
/** An expansion that the shell treats as plain text here, but that may be expanded later, for example by arithmetic. */
const HIDDEN_EXPANSION = /\$\(|`/u;
/**
 * Matches arithmetic without variable names. The value of a variable may be a string, which the shell would evaluate as
 * well.
 */
const NUMBERS = /^\$\(\([\d\s+*/%()<>=!&|^~?:,-]*\)\)$/u;

/**
 * Whether a node is plain: it runs no commands except those written in the line. Any node not known to be plain is
 * rejected, especially anything that bash evaluates as arithmetic, because that also runs substitutions inside values.
 */
export function isPlain(node: SyntaxNode): boolean {
  switch (node.type) {
    case "Script":
      return !node.errors?.length;
    // `{name[subscript]}>file` assigns a file descriptor to the variable.
    case "Word":
      return !/^\{\w*\[.*\}$/su.test(node.text);
    case "CommandExpansion":
    case "ProcessSubstitution":
      return node.script !== undefined;
    case "ArithmeticExpansion":
      return NUMBERS.test(node.text);
    // Only numbers and operators, because the whole expansion was checked above.
    case "ArithmeticBinary":
    case "ArithmeticUnary":
    case "ArithmeticTernary":
    case "ArithmeticGroup":
    case "ArithmeticWord":
      return true;
    case "ParameterExpansion":
      return node.prefix !== "!" && node.index === undefined;
    case "Default":
      return !node.operator.endsWith("=");
    case "TestUnary":
    case "TestBinary":
      return !EVALUATING_TESTS.has(node.operator);
    case "Assignment":
      return node.index === undefined && node.value.type === "Word" && isOrdinaryName(node.name);
    case "For":
      return isOrdinaryName(node.name.text);
    case "FileDescriptorVariable":
      return isOrdinaryName(node.name);
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "Literal":
      return !HIDDEN_EXPANSION.test(node.value);
    default:
      return PLAIN.has(node.type);
  }
}

/** Whether the shell inserts something here that a reader of the line cannot see. */
export function isExpanding({ type }: SyntaxNode): boolean {
  return /Expansion$|ProcessSubstitution/u.test(type) && type !== "BraceExpansion";
}

/** Builtins whose arguments are variable names. A name may contain a subscript, which is evaluated. */
const NAMING: ReadonlySet<string> = new Set(
  "read unset export readonly declare typeset local let getopts wait printf test [".split(" "),
);

/**
 * Whether a builtin may evaluate something in its arguments. `false` for builtins that do not accept variable names.
 */
export function evaluatesNames(name: string, args: readonly string[]): boolean {
  if (!NAMING.has(name)) return false;
  const isUnknown = (arg: string) => arg.includes(UNKNOWN);
  const isOption = (arg: string) => /^-[a-zA-Z]+$/u.test(arg);
  switch (name) {
    case "let":
      return true;
    case "printf":
      return args[0]?.startsWith("-v") === true || args[0]?.startsWith(UNKNOWN) === true;
    case "wait":
      return args.some((arg) => arg.startsWith("-") || isUnknown(arg));
    case "test":
    case "[":
      return args.some((arg) => arg === "-v" || arg === "-R" || isUnknown(arg));
    case "declare":
    case "typeset":
    case "local":
    case "readonly":
      // The options of these builtins can turn names into references or arrays, and make bash evaluate values.
      return !args.every(isPlainSetting);
    case "read":
      // `-a` makes an array, whose elements another builtin would evaluate.
      return args.some((arg) => (isOption(arg) ? arg.includes("a") : !isPlainSetting(arg)));
    default:
      return args.some((arg) => !isOption(arg) && !isPlainSetting(arg));
  }
}

/** Whether the argument is `name` or `name=value`. A value in parentheses is an array, which may contain subscripts. */
function isPlainSetting(arg: string): boolean {
  const [, name = "", value = ""] = /^(\w+)(?:=(.*))?$/su.exec(arg) ?? [];
  return isOrdinaryName(name) && !value.startsWith("(");
}
