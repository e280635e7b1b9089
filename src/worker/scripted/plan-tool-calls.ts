import { isRecord } from "../../lib/json.ts";

interface PlannedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Returns the call that one part of a sentence asks for, or `undefined` if the rule does not apply. */
type Rule = (part: string, offered: ReadonlyMap<string, ScriptedTool>) => PlannedCall | undefined;

const OPERATOR_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b/gi, "+"],
  [/\bminus\b/gi, "-"],
  [/\b(?:times|multiplied by)\b|×/gi, "*"],
  [/\b(?:divided by|over)\b|÷/gi, "/"],
];

const UNITS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const NUMBER_WORDS = new RegExp(
  String.raw`\b(?:(${TENS.join("|")})(?:[ -](${UNITS.slice(1, 10).join("|")}))?|(${UNITS.join("|")}))\b`,
  "gi",
);

/** Converts number words up to 99 to digits, because a speech recognizer returns numbers in words. */
function withDigits(text: string): string {
  const unit = (word: string) => UNITS.indexOf(word.toLowerCase());
  return text.replace(NUMBER_WORDS, (...[, tens, ones, alone]: (string | undefined)[]) => {
    if (alone !== undefined) return String(unit(alone));
    return String(10 * (TENS.indexOf((tens ?? "").toLowerCase()) + 2) + (ones === undefined ? 0 : unit(ones)));
  });
}

const calculate: Rule = (part, offered) => {
  const text = OPERATOR_WORDS.reduce((result, [word, sign]) => result.replace(word, sign), withDigits(part));
  const expression = /[-(\d.][-\d\s.+*/^%()]*[\d)]/.exec(text)?.[0].trim();
  if (expression === undefined || !/[\d)]\s*[-+*/^%]\s*[-(\d.]/.test(expression)) return undefined;
  return call(offered, ["calculator"], [[/expression/i, expression]]);
};

const tellTime: Rule = (part, offered) => {
  if (!/\b(?:what(?:'s| is) the (?:current |local )?time|what time|the time (?:in|is)|local time)\b/i.test(part))
    return undefined;
  const zone = findZone(part);
  const names = zone === undefined ? ["get_local_time", "get_time"] : ["get_time", "get_local_time"];
  return call(offered, names, [[/zone|tz|location/i, zone ?? "UTC"]]);
};

const readFile: Rule = (part, offered) => {
  const path = /\b(?:read|open|show me)\s+(?:the\s+|my\s+)?(?:file\s+)?["'`]?([^\s"'`]+\.[\w]+|\S*\/\S+)/i.exec(
    part,
  )?.[1];
  return path === undefined
    ? undefined
    : call(offered, ["read_local_file"], [[/path|file/i, path.replace(/[?!.,]+$/, "")]]);
};

const notify: Rule = (part, offered) => {
  const text =
    /\b(?:notify|show)\s+(?:me\s+)?(?:a\s+notification\s+)?(?:that\s+says\s+|saying\s+|that\s+|of\s+)?(.+)/i.exec(
      part,
    )?.[1];
  if (text === undefined) return undefined;
  const message = unquote(text);
  return call(
    offered,
    ["show_notification"],
    [
      [/message|text|body/i, message],
      [/title/i, "Parley"],
    ],
  );
};

const search: Rule = (part, offered) => {
  const query = /\b(?:search|look)\s+(?:the\s+web\s+)?for\s+(.+)/i.exec(part)?.[1];
  return query === undefined ? undefined : call(offered, ["web_search"], [[/query/i, unquote(query)]]);
};

const RULES: readonly Rule[] = [search, readFile, notify, tellTime, calculate];
/** Tools whose input may contain the word "and", which otherwise separates two parts of a sentence. */
const FREE_TEXT_TOOLS: ReadonlySet<string> = new Set(["web_search", "show_notification"]);

/** Parses a call of any tool by name: `use count_words {"text": "a b c"}`. */
function namedCall(sentence: string, offered: ReadonlyMap<string, ScriptedTool>): PlannedCall | undefined {
  const [, name = "", json = "{}"] = /^\s*(?:please\s+)?use\s+([\w-]+)\s*(\{.*\})?\s*[.!]?\s*$/is.exec(sentence) ?? [];
  if (!offered.has(name)) return undefined;
  try {
    return { name, input: JSON.parse(json) as PlannedCall["input"] };
  } catch {
    return undefined;
  }
}

/**
 * Returns the calls that a sentence asks for, using offered tools only. For example, "what is 2 + 2 and what time is
 * it" yields two calls.
 */
export function planToolCalls(sentence: string, offered: ReadonlyMap<string, ScriptedTool>): PlannedCall[] {
  const named = namedCall(sentence, offered);
  if (named) return [named];
  const plan: { part: string; call: PlannedCall }[] = [];
  for (const part of toParts(sentence.split(/(\s+(?:and|then|also)\s+|[?;!.,]\s+)/i))) {
    const found = match(part.text, offered);
    const last = plan.at(-1);
    if (found) plan.push({ part: part.text, call: found });
    else if (last && FREE_TEXT_TOOLS.has(last.call.name)) {
      const text = last.part + part.separator + part.text;
      plan[plan.length - 1] = { part: text, call: match(text, offered) ?? last.call };
    }
  }
  return plan.map((entry) => entry.call);
}

interface Part {
  readonly separator: string;
  readonly text: string;
}

/** Converts [text, separator, text, …] into parts, each with the separator before it. */
function toParts(pieces: readonly string[]): Part[] {
  return pieces.flatMap((text, index) => (index % 2 === 1 ? [] : [{ separator: pieces[index - 1] ?? "", text }]));
}

function match(part: string, offered: ReadonlyMap<string, ScriptedTool>): PlannedCall | undefined {
  for (const rule of RULES) {
    const found = rule(part, offered);
    if (found) return found;
  }
  return undefined;
}

/** Returns a call of the first of these tools that is offered, or `undefined` if none is offered. */
function call(
  offered: ReadonlyMap<string, ScriptedTool>,
  names: readonly string[],
  values: readonly (readonly [RegExp, string])[],
): PlannedCall | undefined {
  const tool = names.map((name) => offered.get(name)).find((entry) => entry !== undefined);
  return tool && { name: tool.name, input: valueFor(tool, values) };
}

function unquote(text: string): string {
  return text.trim().replace(/^["'“”]+|["'“”?!.]+$/g, "");
}

/**
 * Finds a time zone: "Europe/Paris", "UTC", or a city that is the last part of a zone's name ("in Paris", "in New
 * York").
 */
function findZone(part: string): string | undefined {
  const place = /\bin\s+([A-Za-z_/ ]+)/.exec(part)?.[1]?.trim().replaceAll(" ", "_").toLowerCase();
  if (place === undefined) return undefined;
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  return zones.find((zone) => [zone, zone.split("/").at(-1) ?? ""].some((name) => name.toLowerCase() === place));
}

/** A tool that the request offers, with the names of its parameters. */
interface ScriptedTool {
  readonly name: string;
  readonly parameters: readonly string[];
}

export function toOfferedTool(name: string, schema: unknown): ScriptedTool {
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  return { name, parameters: properties };
}

/** Assigns each value to the first free parameter whose name matches the value's pattern. */
function valueFor(
  tool: ScriptedTool,
  values: readonly (readonly [RegExp, string])[],
): Readonly<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const [pattern, value] of values) {
    const name = tool.parameters.find((parameter) => pattern.test(parameter) && !(parameter in input));
    if (name !== undefined) input[name] = value;
  }
  return input;
}
