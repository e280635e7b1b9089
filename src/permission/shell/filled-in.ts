import { UNKNOWN } from "../../lib/glob.ts";

/** What find puts file names in place of, and the usual mark of xargs. */
const MARK = "{}";
/** Options by which xargs puts what it reads in place of another mark, in the same word or the next. */
const MARK_ATTACHED = /^(?:-[0oprtx]*[iIJ]|--r[a-z]*=)(?<mark>.+)$/u;
const MARK_FOLLOWS = /^-[0oprtx]*[IJ]$/u;
/** With more marks than this, every argument may be anything. */
const MAX_MARKS = 16;

/** The arguments, with UNKNOWN wherever find or xargs itself puts in something that the line does not tell. */
export function filledIn(name: string, args: readonly string[]): readonly string[] {
  if (name === "find") return args.map((arg) => arg.replaceAll(MARK, UNKNOWN));
  return name === "xargs" ? withInput(args) : args;
}

function withInput(args: readonly string[]): readonly string[] {
  const follows = (index: number) => MARK_FOLLOWS.test(args[index - 1] ?? "");
  const named = args.flatMap((arg, index) =>
    follows(index) ? arg : (MARK_ATTACHED.exec(arg)?.groups?.["mark"] ?? []),
  );
  const marks = new Set([MARK, ...named].filter(Boolean));
  if (marks.size > MAX_MARKS) return args.map(() => UNKNOWN);
  // The mark itself is no argument of what xargs runs. The word after a later option of this kind may be one.
  const own = args.findIndex((_, index) => follows(index));
  const rest = args.filter((_, index) => index !== own);
  return rest.map((arg) => [...marks].reduce((text, mark) => text.replaceAll(mark, UNKNOWN), arg));
}
