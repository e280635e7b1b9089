import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evaluateRules } from "../../../src/permission/evaluate-rules.ts";
import type { Action, PermissionRule } from "../../../src/permission/rule.ts";
import { toOperations } from "../../../src/permission/to-operations.ts";
import { tempFolder } from "../../support/temp-folder.ts";

// Puts a payload, which runs a denied command, in every grammatical place of a bash line. If bash runs that command,
// the rules must not have allowed the line.

const rule = (pattern: string, action: Action): PermissionRule => ({ type: "bash", pattern, action });
const decided = (line: string, rules: readonly PermissionRule[]) =>
  evaluateRules(toOperations({ type: "bash", values: [line] }), rules);
const BUILTINS =
  "echo printf cat read test [ unset declare typeset local export readonly let getopts mapfile readarray wait trap enable hash alias unalias shift exit return set shopt sleep true compgen complete compopt bind jobs fc history exec command builtin time env nohup nice xargs find timeout umask ulimit type dirs pushd cd eval source . bash sh z q";
const RULE_SETS = {
  "some commands are allowed": BUILTINS.split(" ").map((name) => rule(`${name} *`, "allow")),
  "everything is allowed but touch": [rule("*", "allow"), rule("touch *", "deny")],
};

/**
 * Each payload expands to `a[$(touch P)]`, which runs `touch P` wherever bash evaluates it. No payload contains the
 * program's name in plain text.
 */
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
/** What a line begins with: nothing, or a command that sets the variable y to the payload. */
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
  (x) => `for z in ${x}; do echo $((z)); done`,
  (x) => `for RANDOM in ${x}; do echo x; done`,
  (x) => `for SECONDS in ${x}; do echo x; done`,
  (x) => `select RANDOM in ${x}; do echo; break; done <<< 1`,
  (x) => `RANDOM=${x}`,
  (x) => `SECONDS=${x} echo x`,
  (x) => `HISTCMD=${x}; LINENO=${x}; OPTIND=${x}; EPOCHSECONDS=${x}; BASHPID=${x}; SRANDOM=${x}`,
  (x) => `RANDOM+=${x}`,
  (x) => `read RANDOM <<< ${x}`,
  (x) => `read -r z SECONDS <<< "1 "${x}`,
  (x) => `export RANDOM=${x}`,
  (x) => `declare SECONDS=${x}`,
  (x) => `readonly "RANDOM=${x}"`,
  (x) => `f() { local RANDOM=${x}; }; f`,
  (x) => `getopts a: SECONDS -a ${x}`,
  (x) => `printf -v RANDOM %s ${x}`,
  (x) => `mapfile -t RANDOM <<< ${x}`,
  (x) => `echo \${RANDOM:=${x}}`,
  (x) => `read -a z <<< 1; declare "z=([${x}]=1)"`,
  (x) => `read -a z <<< 1; export "z=([${x}]=1)"`,
  (x) => `declare -A z; z[${x}]=1`,
  (x) => `local -i z=${x}; z=${x}`,
  (x) => `export -i z=${x}`,
  (x) => `read -t ${x} z <<< 1`,
  (x) => `read -u ${x} z`,
  (x) => `read -n ${x} z <<< 1`,
  (x) => `[[ -t ${x} ]]`,
  (x) => `[[ -o ${x} ]]`,
  (x) => `[[ ${x} -nt x ]]`,
  (x) => `[[ ${x} < x ]]`,
  (x) => `[[ (x = y || ${x} -ge 1) ]]`,
  (x) => `test ${x} -eq 1`,
  (x) => `test -t ${x}`,
  (x) => `test 1 -a -v ${x}`,
  (x) => `test ! -v ${x}`,
  (x) => `case ${x} in *) echo x;; esac`,
  (x) => `case x in x) ;& y) echo \${q[${x}]};; esac`,
  (x) => `coproc z { echo \${PATH:${x}}; }`,
  (x) => `coproc ${x}`,
  (x) => `time -p echo \${PATH:${x}}`,
  (x) => `function z { echo \${PATH:${x}}; }; z`,
  (x) => `echo() { eval "$(($1))"; }; echo ${x}`,
  (x) => `shopt -s expand_aliases\nalias z=${x}\nz`,
  (x) => `echo {a,\${PATH:${x}}}`,
  (x) => `echo {${x},b}`,
  (x) => `echo {1..3..${x}}`,
  (x) => `echo \${q[{1..${x}}]}`,
  (x) => `cat <(cat <<< \${PATH:${x}})`,
  (x) => `echo x > >(echo \${PATH:${x}})`,
  (x) => `cat <<-END\n\t\${PATH:${x}}\n\tEND`,
  (x) => `cat <<'END'\n\${PATH:${x}}\nEND`,
  (x) => `cat <<"END"\n\${PATH:${x}}\nEND`,
  (x) => `cat 0<<< $((${x}))`,
  (x) => `echo $'x'\${PATH:${x}}$'x'`,
  (x) => `set -H; echo !${x}`,
  (x) => `set -o history -H; echo ${x}\n!!`,
  (x) => `set -k; echo RANDOM=${x}`,
  (x) => `set -a; z=${x}; echo $z`,
  (x) => `set -- ${x}; echo $(($1))`,
  (x) => `set -- ${x}; shift $1; echo \${1:0}`,
  (x) => `pushd ${x}`,
  (x) => `dirs +${x}`,
  (x) => `jobs -x ${x}`,
  (x) => `umask ${x}`,
  (x) => `exec ${x}`,
  (x) => `command -v ${x}`,
  (x) => `builtin printf -v "${x}" y`,
  (x) => `command printf -v "${x}" y`,
  (x) => `builtin test -v "${x}"`,
  (x) => `command read "${x}" <<< 1`,
  (x) => `command declare -i z=${x}`,
  (x) => `env z=${x} bash -c 'echo $((z))'`,
  (x) => `env z=${x} bash -c 'echo \${PATH:z}'`,
  (x) => `z=${x} bash -c 'echo $((z))'`,
  (x) => `export z=${x}; bash -c 'echo x' -- $z`,
  (x) => `source /dev/stdin <<< "echo \${PATH:${x}}"`,
  (x) => `eval echo \${PATH:${x}}`,
  (x) => `trap 'echo \${PATH:${x}}' DEBUG; echo`,
  (x) => `echo \${z:-\${PATH:${x}}}`,
  (x) => `echo \${z:+x}\${HOME:+\${PATH:${x}}}`,
  (x) => `echo \${PATH#\${PATH:${x}}}`,
  (x) => `echo \${PATH^\${PATH:${x}}}`,
  (x) => `echo \${PATH/a/\${PATH:${x}}}`,
  (x) => `echo \${z?\${PATH:${x}}}`,
  (x) => `echo "\\\${PATH:${x}}"`,
  (x) => `echo \${@:${x}}`,
  (x) => `echo \${*:0:${x}}`,
  () => `echo \${!y}`,
  () => `echo \${y@A} \${y@Q} \${y@P}`,
  (x) => `until [[ ${x} -ne 1 ]]; do break; done`,
  (x) => `if ((${x})); then echo; elif ((${x})); then echo; fi`,
  () => `exec {z}>/dev/null; echo \${q[z]}`,
  (x) => `echo x {RANDOM}>/dev/null ${x}`,
  (x) => `printf '%*d' ${x} 1`,
  (x) => `printf '%(%s)T' ${x}`,
  (x) => `printf %q ${x}`,
  (x) => `echo $(($(echo ${x})))`,
  (x) => `echo $((\`echo ${x}\`))`,
  (x) => `echo $(( "${x}" ))`,
  (x) => `echo $((0x${x}))`,
  (x) => `echo ?${x}*`,
  (x) => `echo [${x}]`,
  (x) => `shopt -s extglob\necho @(${x}|y)`,
  (x) => `cd ${x}; pushd -n ${x}`,
  (x) => `env -S "${x}"`,
  (x) => `timeout 1 bash -c "echo \\$((${x}))"`,
];

test.each(Object.entries(RULE_SETS))(
  "where %s, no denied command runs from any place in a line",
  async (_, rules) => {
    await using folder = await tempFolder();
    const lines = PLACES.flatMap((place) => BEFORE.flatMap((before) => PAYLOADS.map((x) => before + place(x))));
    const allowed = [...new Set(lines)].filter((line) => decided(line, rules) === "allow");

    const acted = allowed.filter((line) => {
      runLine(line, folder.path);
      return existsSync(join(folder.path, "P"));
    });

    expect(acted.slice(0, 1)).toEqual([]);
    // Some lines are allowed, because bash evaluates nothing in them.
    expect(allowed.length).toBeGreaterThan(5);
  },
  60_000,
);

/** Ways in which a line sets a variable. */
const SETTINGS: readonly ((name: string) => string)[] = [
  (name) => `for ${name} in .; do echo x; done`,
  (name) => `for ${name}; do echo x; done`,
  (name) => `select ${name} in .; do echo x; done`,
  (name) => `${name}=.`,
  (name) => `${name}=. echo x`,
  (name) => `${name}+=. echo x`,
  (name) => `${name}=(.)`,
  (name) => `echo \${${name}:=.}`,
  (name) => `echo \${${name}=.}`,
  (name) => `read ${name} <<< .`,
  (name) => `read -r x ${name} <<< .`,
  (name) => `mapfile ${name} <<< .`,
  (name) => `readarray -t ${name} <<< .`,
  (name) => `printf -v ${name} .`,
  (name) => `getopts a ${name} -a`,
  (name) => `export ${name}=.`,
  (name) => `export ${name}`,
  (name) => `readonly ${name}=.`,
  (name) => `declare ${name}=.`,
  (name) => `declare -g ${name}=.`,
  (name) => `typeset ${name}=.`,
  (name) => `local ${name}=.`,
  (name) => `unset ${name}`,
  (name) => `let ${name}=1`,
  (name) => `((${name} = 1))`,
  (name) => `echo $((${name} = 1))`,
  (name) => `wait -n -p ${name}`,
  (name) => `exec {${name}}>/dev/null`,
  (name) => `echo x {${name}}>/dev/null`,
  (name) => `{ echo x; } {${name}}</dev/null`,
  (name) => `cat {${name}}<<< x`,
  (name) => `coproc ${name} { echo x; }`,
  (name) => `env ${name}=. echo x`,
  (name) => `command export ${name}=.`,
  (name) => `builtin read ${name} <<< .`,
];
/** Variables that affect the programs that a line starts. */
const OF_PROGRAMS = "LD_PRELOAD GIT_SSH_COMMAND NODE_OPTIONS PAGER MAKEFLAGS http_proxy npm_config_registry".split(" ");

test("a line is asked about if it sets a variable that has a meaning for bash or a program", () => {
  const known = execFileSync("bash", ["--norc", "-c", "RANDOM=1; compgen -v"], { encoding: "utf8", env: {} });
  const names = [...known.split("\n"), ...OF_PROGRAMS, "IFS", "HOME", "CDPATH", "BASH_ENV", "PS4", "PROMPT_COMMAND"];
  const lines = names.filter((name) => name !== "").flatMap((name) => SETTINGS.map((setting) => setting(name)));

  const unasked = lines.filter((line) => decided(line, RULE_SETS["everything is allowed but touch"]) !== "ask");

  expect(unasked).toEqual([]);
});

test.each([
  "for i in a b; do echo $i; done",
  "x=1; echo $x",
  "read -r line < file",
  "export NODE_ENV=test",
  "exec {fd}>log",
])("%s sets an ordinary variable, and is allowed", (line) => {
  expect(decided(line, RULE_SETS["everything is allowed but touch"])).toBe("allow");
});

const STARTERS = "env nohup time command builtin exec nice timeout stdbuf setsid xargs flock jobs find eval".split(" ");
/** What may come between a program in `STARTERS` and the program that it starts. */
const BETWEEN = [
  "",
  "-",
  "--",
  "-i",
  "-x",
  "-p",
  "-0",
  "-n 1",
  "-oL",
  "-k 1 1",
  "1",
  "echo",
  ". -exec",
  "-I{}",
  "-u echo",
  "-a echo",
  "-E echo",
  "-o echo",
  "-s echo",
  "-I echo",
  "-C . -a echo",
  "--unset echo",
  "-a echo -E echo",
  "'-Stouch P' echo",
  "-S 'touch P'",
  "--split-string='touch P' echo",
  "-c 'touch P'",
  "echo -c 'touch P'",
];

test("a program that starts another one is not allowed to start a denied one, whatever its options are", async () => {
  await using folder = await tempFolder();
  const rules = ["echo", ...STARTERS].map((name) => rule(`${name} *`, "allow"));
  const lines = STARTERS.flatMap((name) =>
    BETWEEN.flatMap((between) => ["touch P", "", "echo touch P"].map((rest) => `${name} ${between} ${rest}`)),
  );

  const allowed = lines.filter((line) => decided(line, rules) === "allow");
  const acted = allowed.filter((line) => {
    runLine(line, folder.path);
    return existsSync(join(folder.path, "P"));
  });

  expect(acted.slice(0, 1)).toEqual([]);
  expect(allowed.length).toBeGreaterThan(50);
}, 60_000);

test("the payloads run where bash evaluates them", async () => {
  await using folder = await tempFolder();

  for (const x of PAYLOADS.filter((payload) => !payload.includes("y"))) runLine(`echo \${PATH:${x}}`, folder.path);

  expect(existsSync(join(folder.path, "P"))).toBe(true);
});

function runLine(line: string, cwd: string): void {
  try {
    execFileSync("bash", ["--noprofile", "--norc", "-c", line], { cwd, stdio: "ignore", timeout: 5_000, input: "" });
  } catch {
    // The error is ignored, because most lines exit with one.
  }
}
