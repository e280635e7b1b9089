import { type FieldValue, type Form, type FormAnswer, type FormField, parseField } from "../../client/forms.ts";
import { setOwn } from "../../lib/json.ts";

/** What a person types instead of an answer to decline the form. */
const REFUSE = "/no";

interface Open {
  readonly fields: readonly FormField[];
  readonly content: Record<string, FieldValue>;
  readonly end: (answer: FormAnswer) => void;
  /** The index of the current field. */
  at: number;
}

/** Shows forms in a terminal, field by field. Each line answers one field. */
export class TerminalForms {
  readonly #open: Open[] = [];
  readonly #print: (line: string) => void;
  /** Called when a form starts to wait for a line. */
  onAsked: () => void = () => {};

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Whether the next line answers a form. */
  get isAsking(): boolean {
    return this.#open.length > 0;
  }

  /**
   * Shows a form. Its fields are asked once all earlier forms are closed. Resolves with the answers or the refusal, and
   * rejects when the signal aborts.
   */
  async show({ message, fields, problem }: Form, { signal }: { readonly signal: AbortSignal }): Promise<FormAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<FormAnswer>();
    const asked = fields.length > 0 ? fields : [CONFIRMATION];
    const end = (answer: FormAnswer) => resolve(fields.length > 0 ? answer : toConfirmed(answer));
    const open: Open = { fields: asked, content: {}, end, at: 0 };
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#print(`  ? ${message}${problem === undefined ? "" : ` (${problem})`}  [${REFUSE} refuses]`);
    this.#open.push(open);
    if (this.#open.length === 1) this.#ask(open);
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#close(open);
    }
  }

  /** Uses a line as the answer to the current field. */
  take(line: string): void {
    const [open] = this.#open;
    const field = open?.fields[open.at];
    if (!open || !field) return;
    const typed = line.trim();
    if (typed === REFUSE) return this.#end(open, { action: "decline" });
    if (typed !== "" || field.isRequired) {
      const read = parseField(field, typed);
      if ("problem" in read) return this.#print(`  ? ${field.label}: ${read.problem}`);
      setOwn(open.content, field.name, read.value);
    }
    open.at += 1;
    if (open.at < open.fields.length) this.#ask(open);
    else this.#end(open, { action: "accept", content: open.content });
  }

  /** Ends the form and removes it at once, so that a line that was typed ahead answers whatever is asked next. */
  #end(open: Open, answer: FormAnswer): void {
    open.end(answer);
    this.#close(open);
  }

  #close(open: Open): void {
    const place = this.#open.indexOf(open);
    if (place < 0) return;
    this.#open.splice(place, 1);
    const [next] = this.#open;
    if (place === 0 && next) this.#ask(next);
  }

  #ask({ fields, at }: Open): void {
    const field = fields[at];
    if (field) this.#print(`  ? ${toPrompt(field)}`);
    this.onAsked();
  }
}

/** The only question of a form without fields. */
const CONFIRMATION: FormField = {
  name: "accepted",
  type: "boolean",
  label: "Accept",
  description: undefined,
  isRequired: true,
  choices: [],
  initial: undefined,
  format: undefined,
  schema: { type: "boolean" },
  check: () => undefined,
};

function toConfirmed(answer: FormAnswer): FormAnswer {
  if (answer.action !== "accept") return answer;
  return answer.content[CONFIRMATION.name] === true ? { action: "accept", content: {} } : { action: "decline" };
}

function toPrompt({ type, label, description, choices, isRequired }: FormField): string {
  const kinds = { string: "text", number: "number", integer: "whole number", boolean: "y or n" } as const;
  const places = choices.map((choice, index) => `${index + 1} ${choice.label}`).join(", ");
  const kind = type === "choice" ? places : type === "choices" ? `any of ${places}; as 1, 2` : kinds[type];
  const optional = isRequired ? "" : ", or nothing";
  return `${label}${description === undefined ? "" : ` – ${description}`} (${kind}${optional}):`;
}
