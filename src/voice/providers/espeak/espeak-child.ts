import { readFile } from "node:fs/promises";
import type { EspeakAnswer, EspeakRequest } from "./espeak-package.ts";

// Speaks with espeak-ng's npm build, one text at a time. Runs in its own process, because espeak-ng is licensed under
// the GPL and blocks while it works. Its argument is the URL of the package. Tested with espeak-ng 1.0.2.

interface EspeakFiles {
  readonly writeFile: (path: string, data: string) => void;
  readonly readFile: (path: string) => Uint8Array;
}
interface EspeakModule {
  readonly FS: EspeakFiles;
  readonly _main: (count: number, pointers: number) => void;
}
type RunEspeak = (options: {
  readonly noInitialRun: true;
  readonly instantiateWasm: (imports: object, receive: (instance: Instance) => void) => object;
  readonly print: () => void;
  readonly printErr: () => void;
}) => Promise<EspeakModule>;
interface Instance {
  readonly exports: {
    readonly memory: { readonly buffer: ArrayBuffer };
    readonly stackAlloc: (bytes: number) => number;
  };
}
/** The part of Node's WebAssembly API that is used here. Its types are only in TypeScript's browser library. */
interface Wasm {
  readonly compile: (bytes: Uint8Array) => Promise<object>;
  readonly instantiate: (compiled: object, imports: object) => Promise<Instance>;
}

const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly: Wasm };
const espeakUrl = process.argv[2] ?? "";
const { default: runEspeak } = (await import(espeakUrl)) as { default: RunEspeak };
const compiled = await wasm.compile(await readFile(new URL("espeak-ng.wasm", espeakUrl)));

/** Speaks a text and returns a complete WAV file. @throws if the voice is unknown */
type SpeakOnce = (words: Omit<EspeakRequest, "id">) => Uint8Array;

/**
 * Starts an espeak-ng instance that waits for its arguments. Starting early saves most of the 0.1 s that a run takes:
 * only a tenth of that time passes after the arguments are known.
 */
async function begin(): Promise<SpeakOnce> {
  const started = Promise.withResolvers<Instance>();
  const running = runEspeak({
    noInitialRun: true,
    instantiateWasm: (imports, receive) => {
      started.resolve(wasm.instantiate(compiled, imports));
      started.promise.then(receive, () => {});
      return {};
    },
    print: () => {},
    printErr: () => {},
  });
  const [{ exports }, { FS, _main }] = await Promise.all([started.promise, running]);
  const { memory, stackAlloc } = exports;
  const put = (bytes: Uint8Array) => {
    const pointer = stackAlloc(bytes.length);
    new Uint8Array(memory.buffer).set(bytes, pointer);
    return pointer;
  };
  return ({ text, voice }) => {
    const words = ["espeak-ng", "-w", "speech.wav", "-v", voice, "-f", "text.txt"];
    const pointers = words.map((word) => put(Buffer.from(`${word}\0`)));
    FS.writeFile("text.txt", text);
    try {
      _main(words.length, put(new Uint8Array(Uint32Array.of(...pointers, 0).buffer)));
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "ExitStatus") throw error;
    }
    return FS.readFile("speech.wav");
  };
}

/**
 * The instance for the next request. An instance speaks only once, so another one is started after each answer has been
 * sent, when nobody is waiting for it.
 */
let next = begin();

async function answer({ id, ...words }: EspeakRequest): Promise<EspeakAnswer> {
  const program = await next;
  try {
    return { id, wav: program(words) };
  } catch {
    return { id, wav: undefined };
  }
}

let last = Promise.resolve();
process.on("message", (request: EspeakRequest) => {
  last = last.then(async () => {
    const answered = await answer(request);
    await new Promise((sent) => process.send?.(answered, sent));
    next = begin();
  });
});
process.on("disconnect", () => process.exit());
