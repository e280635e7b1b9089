import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evaluateRules } from "../../../src/permission/evaluate-rules.ts";
import type { Action, PermissionRule } from "../../../src/permission/rule.ts";
import { toDeeds } from "../../../src/permission/to-deeds.ts";
import { tempFolder } from "../../support/temp-folder.ts";

// A payload in every grammatical place of bash: what bash runs although it is denied must not have been allowed.

const rule = (pattern: string, action: Action): PermissionRule => ({ type: "bash", pattern, action });
const BUILTINS =
  "echo printf cat read test [ unset declare typeset local export readonly let getopts mapfile readarray wait trap enable hash alias shift exit set sleep true compgen complete";
const RULE_SETS = {
  "some commands are allowed": BUILTINS.split(" ").map((name) => rule(`${name} *`, "allow")),
  "everything is allowed but touch": [rule("*", "allow"), rule("touch *", "deny")],
};

/** Each gives `a[$(touch P)]`, which runs `touch P` wherever bash evaluates it. None spells the program's name. */
const PAYLOADS: readonly string[] = [
  String.raw`$(printf 'a[\x24\x28\x74ouch P)]')`,
  "`printf 'a[\\x24\\x28\\x74ouch P)]'`",
  String.raw`$'a[\x24(t\x27\x27ouch P)]'`,
  String.raw`a["$""(t""ouch P)"]`,
  `a[$(t""ouch P)]`,
  `'a[$(t""ouch P)]'`,
  "$y",
  "${y}",
  "y",
];
/** Ways to give the variable y the payload, before the line. */
const BEFORE = [
  "",
  String.raw`y=$'a[\x24(t\x27\x27ouch P)]'; `,
  String.raw`printf -v y %b 'a[\x24\x28\x74ouch P)]'; `,
  String.raw`y=$(printf 'a[\x24\x28\x74ouch P)]'); `,
  String.raw`read -r y < <(printf 'a[\x24\x28\x74ouch P)]'); `,
  String.raw`export y=$(printf 'a[\x24\x28\x74ouch P)]'); `,
] as const;

const PLACES: readonly ((x: string) => string)[] = [
  (x) => `echo ${x}`,
  (x) => `echo "${x}"`,
  (x) => `${x} echo`,
  (x) => `echo \${PATH:${x}}`,
  (x) => `echo "\${PATH:0:${x}}"`,
  (x) => `echo \${PATH:~${x}}`,
  (x) => `echo \${PATH:-\${PATH:${x}}}`,
  (x) => `echo \${PATH/\${PATH:${x}}/b}`,
  (x) => `echo \${q[${x}]}`,
  (x) => `echo \${q[${x}]:-1}`,
  (x) => `echo \${#q[${x}]}`,
  (x) => `echo \${q[${x}]=1}`,
  (x) => `echo \${!q[${x}]}`,
  (x) => `echo \${q[@]:${x}}`,
  (x) => `z=${x}; echo \${!z}`,
  (x) => `z=${x}; echo \${z@P}`,
  (x) => `z=${x}; echo \${z@E}`,
  (x) => `echo $((${x}))`,
  (x) => `echo $((1 + ${x}))`,
  (x) => `echo $[${x}]`,
  (x) => `((${x}))`,
  (x) => `((z = ${x}))`,
  (x) => `for ((i = ${x}; i < 1; i++)); do echo; done`,
  (x) => `for ((i = 0; i < ${x}; i++)); do echo; done`,
  (x) => `q[${x}]=1`,
  (x) => `q=([${x}]=1)`,
  (x) => `q=(${x})`,
  (x) => `q+=([${x}]=1)`,
  (x) => `echo {q[${x}]}>/dev/null`,
  (x) => `{q[${x}]}>/dev/null echo`,
  (x) => `[[ ${x} -eq 1 ]]`,
  (x) => `[[ 1 -lt ${x} ]]`,
  (x) => `[[ -v ${x} ]]`,
  (x) => `[[ -n x && -v ${x} ]]`,
  (x) => `[[ ! -R ${x} ]]`,
  (x) => `[[ ${x} == x ]]`,
  (x) => `[[ x =~ ${x} ]]`,
  (x) => `test -v ${x}`,
  (x) => `test -v "${x}"`,
  (x) => `[ -v "${x}" ]`,
  (x) => `[ "${x}" -eq 1 ]`,
  (x) => `[ -n 1 -a -v "${x}" ]`,
  (x) => `printf -v "${x}" y`,
  (x) => `printf -v${x} y`,
  (x) => `printf %d "${x}"`,
  (x) => `read "${x}" <<< x`,
  (x) => `read -a "${x}" <<< x`,
  (x) => `read z <<< ${x}; echo $((z))`,
  (x) => `unset "${x}"`,
  (x) => `declare "${x}=1"`,
  (x) => `declare -i z=${x}`,
  (x) => `declare -i z; z=${x}`,
  (x) => `declare -n z=${x}; echo $z`,
  (x) => `declare -a "z=([${x}]=1)"`,
  (x) => `typeset -i z="${x}"`,
  (x) => `export "${x}=1"`,
  (x) => `readonly "${x}=1"`,
  (x) => `f() { local "${x}=1"; }; f`,
  (x) => `let "${x}"`,
  (x) => `let z=${x}`,
  (x) => `getopts a "${x}" -a`,
  (x) => `mapfile -t "${x}" <<< x`,
  (x) => `mapfile -O "${x}" z <<< x`,
  (x) => `mapfile -n "${x}" z <<< x`,
  (x) => `readarray -s "${x}" z <<< x`,
  (x) => `mapfile -C ${x} -c 1 z <<< x`,
  (x) => `wait -n -p "${x}"`,
  (x) => `trap "${x}" EXIT`,
  () => `trap 'echo $((y))' EXIT`,
  (x) => `enable -f "${x}" z`,
  (x) => `hash -p "${x}" z`,
  (x) => `alias z="${x}"`,
  (x) => `shift "${x}"`,
  (x) => `ulimit -c "${x}"`,
  (x) => `exit "${x}"`,
  (x) => `return "${x}"`,
  (x) => `break "${x}"`,
  (x) => `cat <<END\n${x}\nEND`,
  (x) => `cat <<END\n\${PATH:${x}}\nEND`,
  (x) => `cat <<< "\${PATH:${x}}"`,
  (x) => `cat <(echo \${PATH:${x}})`,
  (x) => `echo $(echo \${PATH:${x}})`,
  (x) => `case \${PATH:${x}} in x) echo;; esac`,
  (x) => `case x in \${PATH:${x}}) echo;; esac`,
  (x) => `select z in 1; do echo $((${x})); break; done <<< 1`,
  (x) => `if [[ ${x} -eq 1 ]]; then echo; fi`,
  (x) => `while ((${x})); do break; done`,
  (x) => `coproc echo $((${x}))`,
  (x) => `PS4=${x}; set -x; echo`,
  () => `PS4='$((y))'; set -x; echo`,
  (x) => `PROMPT_COMMAND="${x}" bash -ic true`,
  (x) => `BASH_ENV=${x} bash -c true`,
  (x) => `IFS=${x}; echo $y`,
  (x) => `compgen -W "${x}"`,
  (x) => `compgen -C "${x}"`,
  (x) => `complete -C "${x}" z`,
  (x) => `eval "echo \\$((${x}))"`,
  (x) => `bash -c "echo \\$((${x}))"`,
  () => `bash -c 'echo $((y))'`,
  (x) => `echo $"${x}"`,
  (x) => `echo ${x}{1..${x}}`,
  (x) => `echo {1..${x}}`,
  (x) => `sleep 0 & echo \${PATH:${x}}`,
  (x) => `time echo \${PATH:${x}}`,
  (x) => `! echo \${PATH:${x}}`,
  (x) => `echo x > "\${PATH:${x}}"`,
  (x) => `echo x >&"\${PATH:${x}}"`,
];

test.each(Object.entries(RULE_SETS))(
  "where %s, nothing in any place of a line runs what is denied",
  async (_, rules) => {
    await using folder = await tempFolder();
    const lines = PLACES.flatMap((place) => BEFORE.flatMap((before) => PAYLOADS.map((x) => before + place(x))));
    const allowed = [...new Set(lines)].filter(
      (line) => evaluateRules(toDeeds({ type: "bash", values: [line] }), rules) === "allow",
    );

    const acted = allowed.filter((line) => {
      runLine(line, folder.path);
      return existsSync(join(folder.path, "P"));
    });

    expect(acted.slice(0, 1)).toEqual([]);
    // Some do nothing that bash evaluates, and are allowed.
    expect(allowed.length).toBeGreaterThan(5);
  },
  60_000,
);

test("the payloads do act where bash evaluates them", async () => {
  await using folder = await tempFolder();

  for (const x of PAYLOADS.filter((payload) => !payload.includes("y"))) runLine(`echo \${PATH:${x}}`, folder.path);

  expect(existsSync(join(folder.path, "P"))).toBe(true);
});

function runLine(line: string, cwd: string): void {
  try {
    execFileSync("bash", ["--noprofile", "--norc", "-c", line], { cwd, stdio: "ignore", timeout: 5_000, input: "" });
  } catch {
    // Most lines end with an error.
  }
}
