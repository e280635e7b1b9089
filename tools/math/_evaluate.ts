import { add, divide, remainder, toAnswer } from "./_arithmetic.ts";
import { CONSTANTS, FUNCTIONS } from "./_functions.ts";
import { tokenize, type Token } from "./_tokens.ts";

const MAX_DEPTH = 100;

/**
 * Evaluates an arithmetic expression in linear time, without running code. `^` and `**` are right-associative and bind
 * more tightly than a leading minus (-2^2 is -4). `%` means the remainder before an operand, and percent anywhere else.
 */
export function evaluate(expression: string): number {
  const parser = new Parser(tokenize(expression));
  return toAnswer(parser.run());
}

/** A recursive descent parser with one method per level of precedence. Computes the value while parsing. */
class Parser {
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  run(): number {
    if (this.#peek().type === "end") throw new Error("The expression is empty");
    const value = this.#sum();
    if (this.#peek().type !== "end") throw this.#unexpected();
    return value;
  }

  #sum(): number {
    let value = this.#product();
    while (true) {
      if (this.#take("+")) value = finite(add(value, this.#product()));
      else if (this.#take("-")) value = finite(add(value, -this.#product()));
      else return value;
    }
  }

  #product(): number {
    let value = this.#unary();
    while (true) {
      if (this.#take("*")) value = finite(value * this.#unary());
      else if (this.#take("/")) value = finite(divide(value, this.#unary()));
      else if (this.#take("%")) value = finite(remainder(value, this.#unary()));
      else return value;
    }
  }

  /** Parses signs. Every recursion passes through here, so the depth is counted here. */
  #unary(): number {
    if (++this.#depth > MAX_DEPTH) throw new Error(`The expression is nested deeper than ${MAX_DEPTH} levels`);
    const value = this.#take("-") ? -this.#unary() : this.#take("+") ? this.#unary() : this.#power();
    this.#depth--;
    return value;
  }

  #power(): number {
    const base = this.#percent();
    return this.#take("^") ? finite(base ** this.#unary()) : base;
  }

  #percent(): number {
    let value = this.#operand();
    while (this.#isSymbol("%") && !this.#startsOperand(this.#index + 1)) {
      this.#index++;
      value /= 100;
    }
    return value;
  }

  #operand(): number {
    const token = this.#peek();
    if (token.type === "number") {
      this.#index++;
      return token.value;
    }
    if (token.type === "name") return this.#named(token.text);
    if (!this.#take("(")) throw this.#unexpected();
    const value = this.#sum();
    this.#expectClose();
    return value;
  }

  #named(name: string): number {
    const constant = CONSTANTS.get(name);
    const called = FUNCTIONS.get(name);
    if (constant === undefined && called === undefined) throw new Error(`Unknown name "${name.slice(0, 30)}"`);
    this.#index++;
    if (called === undefined) return constant ?? 0;
    if (!this.#take("(")) throw new Error(`${name} needs its value in parentheses, as in ${name}(2)`);
    const values = [this.#sum()];
    while (this.#take(",")) values.push(this.#sum());
    this.#expectClose();
    const { least, most, run } = called;
    if (values.length < least || values.length > most) throw new Error(`${name} cannot take ${values.length} values`);
    return finite(run(...values));
  }

  #peek(): Token {
    return this.#tokens[this.#index] ?? { type: "end", at: 0 };
  }

  #isSymbol(text: string): boolean {
    const token = this.#peek();
    return token.type === "symbol" && token.text === text;
  }

  #take(text: string): boolean {
    const isNext = this.#isSymbol(text);
    if (isNext) this.#index++;
    return isNext;
  }

  #startsOperand(index: number): boolean {
    const token = this.#tokens[index];
    return token?.type === "number" || token?.type === "name" || (token?.type === "symbol" && token.text === "(");
  }

  #expectClose(): void {
    if (!this.#take(")"))
      throw this.#peek().type === "end" ? new Error('A closing ")" is missing') : this.#unexpected();
  }

  #unexpected(): Error {
    const token = this.#peek();
    if (token.type === "end") return new Error("The expression ends too early");
    if (token.type === "symbol" && token.text === ",") {
      return new Error(`Unexpected "," at position ${token.at}: write numbers without thousands separators`);
    }
    const text = token.type === "number" ? String(token.value) : token.text.slice(0, 30);
    return new Error(`Unexpected "${text}" at position ${token.at}`);
  }
}

function finite(value: number): number {
  if (Number.isNaN(value)) throw new Error("The result is not a real number");
  if (!Number.isFinite(value)) throw new Error("The result is too large");
  return value;
}
