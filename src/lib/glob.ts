/** A place in a compiled glob: one that takes a character, or one that leads on to other places without any. */
export type Place =
  | { readonly takes: (char: string) => boolean; readonly repeats: boolean }
  | { readonly leadsTo: readonly number[] };

export const ANY_TEXT: Place = { takes: () => true, repeats: true };
/** Within one folder. */
export const ANY_NAME: Place = { takes: (char) => char !== "/", repeats: true };
export const ANY_CHAR: Place = { takes: (char) => char !== "/", repeats: false };

export function literal(text: string): Place {
  return { takes: (char) => char === text, repeats: false };
}

/** The places for a doubled star before a slash, where they come to stand at `index`: folders of any depth, or none. */
export function anyFolders(index: number): Place[] {
  return [{ leadsTo: [index + 1, index + 3] }, ANY_TEXT, literal("/")];
}

/** In a text: a piece of it that is not known, of any length. */
export const UNKNOWN = "\uE000";
/**
 * How unknown pieces are read: not at all (the character means itself), so that the glob fits whatever they are, or so
 * that it fits for some.
 */
export type Reading = "known" | "surely" | "possibly";

/**
 * Whether a text goes from the first place to behind the last. All ways are gone at once, so that no text and no glob
 * takes longer than the one's length times the other's.
 */
export function matchesGlob(places: readonly Place[], text: string, reading: Reading = "known"): boolean {
  const reached = new Reached(places);
  let current = reached.from([0]);
  for (const char of text) {
    const taken: number[] = [];
    const isUnknown = char === UNKNOWN && reading !== "known";
    for (const index of current) {
      const place = places[index];
      // Nothing leads back: some text leads to each place that comes later.
      if (isUnknown && reading === "possibly")
        for (let later = index; later <= places.length; later++) taken.push(later);
      else if (place && "takes" in place && (isUnknown ? place === ANY_TEXT : place.takes(char)))
        taken.push(place.repeats ? index : index + 1);
    }
    if (taken.length === 0) return false;
    current = reached.from(taken);
  }
  return current.includes(places.length);
}

class Reached {
  readonly #places: readonly Place[];
  /** For each place, the last round in which it was reached. */
  readonly #rounds: Uint32Array;
  #round = 0;

  constructor(places: readonly Place[]) {
    this.#places = places;
    this.#rounds = new Uint32Array(places.length + 1);
  }

  /** These places and all to which they lead without a character, each once. */
  from(starts: readonly number[]): number[] {
    this.#round++;
    const reached: number[] = [];
    for (const start of starts) this.#add(start, reached);
    // A list is gone through with what is added meanwhile.
    for (const index of reached) {
      const place = this.#places[index];
      if (!place) continue;
      if ("leadsTo" in place) for (const next of place.leadsTo) this.#add(next, reached);
      else if (place.repeats) this.#add(index + 1, reached);
    }
    return reached;
  }

  #add(index: number, reached: number[]): void {
    if (this.#rounds[index] === this.#round) return;
    this.#rounds[index] = this.#round;
    reached.push(index);
  }
}
