/** How many streams may be open, of one participant and of all. */
export class StreamLimit {
  readonly #ofOne: number;
  readonly #ofAll: number;
  readonly #open = new Map<string, number>();
  #count = 0;

  constructor(ofOne: number, ofAll: number) {
    this.#ofOne = ofOne;
    this.#ofAll = ofAll;
  }

  /** Takes a place and returns how to give it back, once; else who has too many. */
  take(key: string): (() => void) | "one" | "all" {
    const open = this.#open.get(key) ?? 0;
    if (open >= this.#ofOne) return "one";
    if (this.#count >= this.#ofAll) return "all";
    this.#open.set(key, open + 1);
    this.#count += 1;
    let isOpen = true;
    return () => {
      if (isOpen) this.#giveBack(key);
      isOpen = false;
    };
  }

  #giveBack(key: string): void {
    const open = (this.#open.get(key) ?? 1) - 1;
    if (open === 0) this.#open.delete(key);
    else this.#open.set(key, open);
    this.#count -= 1;
  }
}
