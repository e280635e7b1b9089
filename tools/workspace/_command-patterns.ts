import { literalPattern } from "../../src/lib/literal-pattern.ts";

/** What makes more of a command than one program with its arguments. */
const JOINTS = /[;&|<>()`\n\r]|\$[({'"]/u;
const SPLIT = /[;&|<>()`\n\r]+|\$[({'"]/u;
const MAX_PARTS = 40;

/**
 * What rules are asked about a shell command. One program with its arguments is itself: `git status`. Anything more is
 * each of its parts, so that a rule can deny one of them, and the whole behind a `; `: a rule that allows `git *` says
 * nothing of what is put after it. Quotes are not looked into, so what only looks like more counts as more.
 *
 * @throws {Error} when it has so many parts that rules could not be asked about each
 */
export function commandPatterns(command: string): string[] {
  const whole = command.trim();
  if (!JOINTS.test(whole)) return [literalPattern(whole || command)];
  const parts = whole.split(SPLIT).map((part) => part.trim());
  const named = [...new Set(parts.filter(Boolean))];
  if (named.length > MAX_PARTS) throw new Error(`The command has more than ${MAX_PARTS} parts: put it into a file`);
  return [...named, `; ${whole}`].map(literalPattern);
}
