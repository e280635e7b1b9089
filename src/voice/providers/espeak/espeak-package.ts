import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { programEnvironment } from "../../../tool/program-environment.ts";
import { siblingModuleUrl } from "../../../lib/sibling-module-url.ts";
import { findPackage } from "../../../tool/find-package.ts";

/** Sent to `espeak-child.ts`, which answers with an EspeakAnswer. */
export interface EspeakRequest {
  readonly id: number;
  readonly text: string;
  readonly voice: string;
}

export interface EspeakAnswer {
  readonly id: number;
  /** A complete WAV file. Undefined if the voice is unknown or espeak-ng failed. */
  readonly wav: Uint8Array | undefined;
}

/**
 * The size of the header in espeak-ng's WAV files. It must be skipped without reading it: its length field is wrong,
 * because espeak-ng writes the header before it knows the length.
 */
export const WAV_HEADER_BYTES = 44;

const CHILD = fileURLToPath(siblingModuleUrl(import.meta.url, "espeak-child"));

/** Runs espeak-ng's npm build in a process that lives until `close`. */
export class EspeakPackage {
  readonly #waiting = new Map<number, (wav: Uint8Array | undefined) => void>();
  #child: ChildProcess | undefined;
  #lastId = 0;

  /** Resolves to a complete WAV file, or to undefined if the text cannot be spoken. */
  async speak(text: string, voice: string): Promise<Uint8Array | undefined> {
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    const request: EspeakRequest = { id: ++this.#lastId, text, voice };
    this.#waiting.set(request.id, resolve);
    this.start().send(request, (error) => error && this.#settle(request.id, undefined));
    return await promise;
  }

  /** Kills the process with SIGKILL, because it handles no other signal while it speaks. */
  close(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  /** Returns the process, starting one if none is running. */
  start(): ChildProcess {
    if (this.#child) return this.#child;
    const child = fork(CHILD, [findPackage("espeak-ng") ?? ""], {
      serialization: "advanced",
      execArgv: [],
      env: programEnvironment("NODE_COMPILE_CACHE"),
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.on("message", ({ id, wav }: EspeakAnswer) => this.#settle(id, wav));
    const onEnded = () => {
      if (this.#child === child) this.#child = undefined;
      for (const id of this.#waiting.keys()) this.#settle(id, undefined);
    };
    child.on("error", onEnded);
    child.on("exit", onEnded);
    this.#child = child;
    return child;
  }

  #settle(id: number, wav: Uint8Array | undefined): void {
    this.#waiting.get(id)?.(wav);
    this.#waiting.delete(id);
  }
}
