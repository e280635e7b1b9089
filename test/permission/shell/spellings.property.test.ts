import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluateRules } from "../../../src/permission/evaluate-rules.ts";
import type { PermissionRule } from "../../../src/permission/rule.ts";
import { toOperations } from "../../../src/permission/to-operations.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

// The lines generated here are evaluated and never run.

const DENIED = [
  ["git", "push"],
  ["git", "push", "--force", "origin"],
  ["rm", "-rf", "x"],
  ["npm", "publish"],
];
const RULES: readonly PermissionRule[] = [
  { type: "bash", pattern: "*", action: "allow" },
  ...["git push *", "rm *", "npm publish *"].map((pattern) => ({ type: "bash", pattern, action: "deny" as const })),
];
const decided = (line: string) => evaluateRules(toOperations({ type: "bash", values: [line] }), RULES);

const quoted = (line: string) => `'${line.replaceAll("'", String.raw`'\''`)}'`;

/** Ways to spell one character that a shell treats as equal. */
const SPELLINGS: readonly ((char: string) => string)[] = [
  (char) => char,
  (char) => char,
  (char) => `"${char}"`,
  (char) => `'${char}'`,
  (char) => `\\${char}`,
  (char) => `${char}""`,
  (char) => `${char}\\\n`,
  (char) => `$'\\x${(char.codePointAt(0) ?? 0).toString(16)}'`,
  (char) => `$'\\${(char.codePointAt(0) ?? 0).toString(8).padStart(3, "0")}'`,
];
const spelledChar = (char: string) => fc.constantFrom(...SPELLINGS.map((spell) => spell(char)));
const spelledWord = (word: string) =>
  fc.tuple(...Array.from(word, (char) => spelledChar(char))).map((chars) => chars.join(""));
const blank = fc.constantFrom(" ", "  ", "\t", " \\\n ");
const folder = fc.constantFrom("", "", "/usr/bin/", "./", "../x/");

const command = fc
  .constantFrom(...DENIED)
  .chain((words) =>
    fc
      .tuple(folder, ...words.map((word) => fc.tuple(spelledWord(word), blank)))
      .map(([place, ...spelled]) => place + spelled.flat().join("")),
  );

/** Ways to embed a line so that it is still run. */
const AROUND: readonly ((line: string) => string)[] = [
  (line) => `make; ${line}`,
  (line) => `make && ${line} && make`,
  (line) => `make || ${line}`,
  (line) => `echo x | ${line}`,
  (line) => `make & ${line} &`,
  (line) => `make\n${line}\nmake`,
  (line) => `(${line})`,
  (line) => `{ ${line}\n}`,
  (line) => `! ${line}`,
  (line) => `time ${line}`,
  (line) => `if ${line}\nthen make; fi`,
  (line) => `for i in a b; do ${line}\ndone`,
  (line) => `f() { ${line}\n}; f`,
  (line) => `echo $(${line})`,
  (line) => `echo "a $(${line}) b"`,
  (line) => `x=$(${line})`,
  (line) => `cat <(${line})`,
  (line) => `echo \${x:-$(${line})}`,
  (line) => `bash -c ${quoted(line)}`,
  (line) => `/bin/sh -ec ${quoted(line)} name`,
  (line) => `eval ${quoted(line)}`,
  (line) => `trap ${quoted(line)} EXIT`,
  (line) => `sudo -n bash -c ${quoted(line)}`,
  (line) => `env -i A=1 sh -c ${quoted(line)}`,
  (line) => `timeout 5 sh -c ${quoted(line)}`,
  (line) => `find . -exec sh -c ${quoted(line)} \\;`,
  (line) => `bash <<'END'\n${line}\nEND\n`,
  (line) => `bash <<< ${quoted(line)}`,
  (line) => `echo ${quoted(line)} | sh`,
];
/** What may come before a simple command. */
const BEFORE = [
  "A=1 ",
  "A=1 B='c d' ",
  "env ",
  "env A=1 ",
  "sudo ",
  "sudo -u root ",
  "nohup ",
  "command ",
  "builtin ",
  "exec ",
  "xargs ",
  "xargs -I % ",
  "find . -exec ",
  "nice -n 5 ",
  "timeout 5 ",
  "2>/dev/null ",
  "<x ",
];
const before = fc.array(fc.constantFrom(...BEFORE), { maxLength: 3 }).map((parts) => parts.join(""));
const around = fc.array(fc.constantFrom(...AROUND), { maxLength: 4 });

test("a denied command is never allowed, however it is spelled and wherever it appears", () => {
  fc.assert(
    fc.property(before, command, around, (prefix, plain, places) => {
      const line = places.reduce((inner, place) => place(inner), prefix + plain);
      expect(["deny", "ask"]).toContain(decided(line));
    }),
    { numRuns: propertyRuns(1_000), seed: propertySeed() },
  );
});

/**
 * A program that starts the command after it, and the mark in that command that the program replaces with an unknown
 * value.
 */
const FILLING = [
  ["find . -execdir ", "{}"],
  ["xargs -I{} ", "{}"],
  ["xargs -I % ", "%"],
  ["xargs -n 1 -rI _ ", "_"],
  ["xargs --replace=X ", "X"],
] as const;

/** A program that fills in a mark, followed by a command in which the mark hides a part of one word. */
const filled = fc
  .record({
    words: fc.constantFrom(...DENIED),
    hidden: fc.nat(),
    filling: fc.constantFrom(...FILLING),
    kept: fc.constantFrom([0, 99], [0, 1], [1, 1], [1, 99]),
  })
  .map(({ words, hidden, filling: [start, mark], kept: [from, to] }) => {
    const hide = (word: string) => word.slice(0, from) + mark + word.slice(to);
    return start + words.map((word, index) => (index === hidden % words.length ? hide(word) : word)).join(" ");
  });

test("a denied command is not allowed if a program that starts it fills in one of its words", () => {
  fc.assert(
    fc.property(filled, (line) => {
      expect(["deny", "ask"]).toContain(decided(line));
    }),
    { numRuns: propertyRuns(300), seed: propertySeed() },
  );
});

test("a command is not asked about just because of its spelling", () => {
  fc.assert(
    fc.property(command, (line) => {
      expect(decided(line)).toBe("deny");
    }),
    { numRuns: propertyRuns(500), seed: propertySeed() },
  );
});

const piece = fc.constantFrom(
  ..."; & | && || ( ) { } $( ` ' \" \\ \n < > << <<< <( ${ } [[ ]] (( )) # ! if then fi do done case esac in * ? [ ] $x = git push -c bash eval".split(
    " ",
  ),
);

test("whatever is written, a rule for one program allows no line that does not contain it", () => {
  const rules: readonly PermissionRule[] = [{ type: "bash", pattern: "make *", action: "allow" }];
  const check = (pieces: readonly string[], gap: string) => {
    expect(evaluateRules(toOperations({ type: "bash", values: [pieces.join(gap)] }), rules)).toBe("ask");
  };
  fc.assert(fc.property(fc.array(piece, { minLength: 1, maxLength: 30 }), fc.constantFrom(" ", ""), check), {
    numRuns: propertyRuns(1_000),
    seed: propertySeed(),
  });
});
