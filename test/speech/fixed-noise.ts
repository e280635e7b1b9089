import type { Noise } from "../../src/speech/voice/sound/noise.ts";

/** The noise with which the expected samples were made. It depends only on the frame and the frequency. */
export class FixedNoise {
  #frame = 0;

  readonly fill: Noise = (target) => {
    for (let at = 0; at < target.length; at++) {
      const [bin, part] = [Math.floor(at / 2), at % 2];
      target[at] = (((bin * 7919 + (2 * this.#frame + part) * 104_729) % 2001) - 1000) / 577;
    }
    this.#frame++;
  };

  restart(frame = 0): void {
    this.#frame = frame;
  }
}
