import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { programEnvironment } from "../../../tool/program-environment.ts";
import { moduleBeside } from "../../../lib/module-beside.ts";
import { findPackage } from "../../../tool/find-package.ts";

/** Sent to `espeak-child.ts`, which sends an EspeakAnswer back. */
export interface EspeakRequest {
  readonly id: number;
  readonly text: string;
  readonly voice: string;
}

export interface EspeakAnswer {
  readonly id: number;
  /** A whole WAV file; undefined when the voice is unknown or espeak-ng failed. */
  readonly wav: Uint8Array | undefined;
}

/** The header's length field is wrong: espeak-ng writes the header before it knows the length. */
export const WAV_HEADER_BYTES = 44;

const CHILD = fileURLToPath(moduleBeside(import.meta.url, "espeak-child"));

/** Runs espeak-ng's npm build in a process that lives until `close`. */
export class EspeakPackage {
  readonly #waiting = new Map<number, (wav: Uint8Array | undefined) => void>();
  #child: ChildProcess | undefined;
  #lastId = 0;

  /** A whole WAV file; undefined when the text cannot be spoken. */
  async speak(text: string, voice: string): Promise<Uint8Array | undefined> {
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    const request: EspeakRequest = { id: ++this.#lastId, text, voice };
    this.#waiting.set(request.id, resolve);
    this.start().send(request, (error) => error && this.#settle(request.id, undefined));
    return await promise;
  }

  /** By SIGKILL: while the process speaks a text it handles no other signal. */
  close(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  /** The process; a new one when none runs. */
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
