/** One state of a compiled glob. It consumes a character, or leads to other states (by index) without consuming one. */
export type GlobState =
  | { readonly takes: (char: string) => boolean; readonly repeats: boolean }
  | { readonly leadsTo: readonly number[] };

export const ANY_TEXT: GlobState = { takes: () => true, repeats: true };
/** Any characters except a slash: part of one name. */
export const ANY_NAME: GlobState = { takes: (char) => char !== "/", repeats: true };
export const ANY_CHAR: GlobState = { takes: (char) => char !== "/", repeats: false };

export function literal(text: string): GlobState {
  return { takes: (char) => char === text, repeats: false };
}

/**
 * Returns the states for a doubled star before a slash: any number of folders, including none. `index` is the index of
 * the first state.
 */
export function anyFolders(index: number): GlobState[] {
  return [{ leadsTo: [index + 1, index + 3] }, ANY_TEXT, literal("/")];
}

/** Returns the states of a glob whose only special character is the star, which matches any text. */
export function starStates(pattern: string): GlobState[] {
  return Array.from(pattern, (char) => (char === "*" ? ANY_TEXT : literal(char)));
}

/** Represents an unknown piece of any length in a text. */
export const UNKNOWN = "\uE000";
/** Like `UNKNOWN`, for a piece that may expand to several words, each of which may be any text. */
export const SEVERAL = UNKNOWN + UNKNOWN;
/**
 * How UNKNOWN in a text is matched. `known`: as the character itself. `surely`: the glob must match for every possible
 * piece. `possibly`: the glob must match for at least one possible piece.
 */
export type Reading = "known" | "surely" | "possibly";

/**
 * Whether the glob matches the whole text. All states are followed in parallel, so the cost is at most the length of
 * the text times the number of states.
 */
export function matchesGlob(states: readonly GlobState[], text: string, reading: Reading = "known"): boolean {
  const reached = new Reached(states);
  let current = reached.from([0]);
  for (const char of text) {
    const taken: number[] = [];
    const isUnknown = char === UNKNOWN && reading !== "known";
    for (const index of current) {
      const state = states[index];
      // States never lead backwards, so an unknown piece may lead to any later state.
      if (isUnknown && reading === "possibly")
        for (let later = index; later <= states.length; later++) taken.push(later);
      else if (state && "takes" in state && (isUnknown ? state === ANY_TEXT : state.takes(char)))
        taken.push(state.repeats ? index : index + 1);
    }
    if (taken.length === 0) return false;
    current = reached.from(taken);
  }
  return current.includes(states.length);
}

class Reached {
  readonly #states: readonly GlobState[];
  /** For each state, the last round (call of `from`) in which the state was reached. */
  readonly #rounds: Uint32Array;
  #round = 0;

  constructor(states: readonly GlobState[]) {
    this.#states = states;
    this.#rounds = new Uint32Array(states.length + 1);
  }

  /** Returns these states and all states that can be reached from them without consuming a character. */
  from(starts: readonly number[]): number[] {
    this.#round++;
    const reached: number[] = [];
    for (const start of starts) this.#add(start, reached);
    // The loop also visits items that are added to the list meanwhile.
    for (const index of reached) {
      const state = this.#states[index];
      if (!state) continue;
      if ("leadsTo" in state) for (const next of state.leadsTo) this.#add(next, reached);
      else if (state.repeats) this.#add(index + 1, reached);
    }
    return reached;
  }

  #add(index: number, reached: number[]): void {
    if (this.#rounds[index] === this.#round) return;
    this.#rounds[index] = this.#round;
    reached.push(index);
  }
}
