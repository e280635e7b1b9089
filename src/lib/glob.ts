/** One place of a compiled glob: it takes a character, or leads on to other places (by index) without taking one. */
export type Place =
  | { readonly takes: (char: string) => boolean; readonly repeats: boolean }
  | { readonly leadsTo: readonly number[] };

export const ANY_TEXT: Place = { takes: () => true, repeats: true };
/** Any characters but a slash: a part of one name. */
export const ANY_NAME: Place = { takes: (char) => char !== "/", repeats: true };
export const ANY_CHAR: Place = { takes: (char) => char !== "/", repeats: false };

export function literal(text: string): Place {
  return { takes: (char) => char === text, repeats: false };
}

/** The places of a doubled star before a slash: folders of any depth, or none. `index` is that of the first of them. */
export function anyFolders(index: number): Place[] {
  return [{ leadsTo: [index + 1, index + 3] }, ANY_TEXT, literal("/")];
}

/** The places of a glob that knows stars alone: each stands for any text, and every other character for itself. */
export function placesOfStars(pattern: string): Place[] {
  return Array.from(pattern, (char) => (char === "*" ? ANY_TEXT : literal(char)));
}

/** Stands in a text for an unknown piece of any length. */
export const UNKNOWN = "\uE000";
/** The same for a piece that may make several words of one, each of any text. */
export const SEVERAL = UNKNOWN + UNKNOWN;
/**
 * How UNKNOWN in a text is read. `known`: as the character itself. `surely`: the glob must match whatever the piece is.
 * `possibly`: it is enough that the glob matches for some piece.
 */
export type Reading = "known" | "surely" | "possibly";

/**
 * Whether the glob matches the whole text. All ways through the places are followed at once, so the cost is at most the
 * length of the text times the number of places.
 */
export function matchesGlob(places: readonly Place[], text: string, reading: Reading = "known"): boolean {
  const reached = new Reached(places);
  let current = reached.from([0]);
  for (const char of text) {
    const taken: number[] = [];
    const isUnknown = char === UNKNOWN && reading !== "known";
    for (const index of current) {
      const place = places[index];
      // No place leads back, and an unknown piece may lead to any place that comes later.
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

  /** These places and all places that they lead to without a character, each once. */
  from(starts: readonly number[]): number[] {
    this.#round++;
    const reached: number[] = [];
    for (const start of starts) this.#add(start, reached);
    // The loop also visits what is added to the list meanwhile.
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
