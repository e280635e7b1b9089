import type { EspeakAnswer, EspeakRequest } from "./espeak-package.ts";

// Speaks with espeak-ng's npm build, one text at a time. A process of its own, because espeak-ng is under the GPL and
// because it blocks while it works. Its argument is the package's address.

interface EspeakFiles {
  readonly writeFile: (path: string, data: string) => void;
  readonly readFile: (path: string) => Uint8Array;
}
interface EspeakModule {
  FS: EspeakFiles;
}
type RunEspeak = (options: {
  readonly arguments: readonly string[];
  readonly preRun: readonly ((module: EspeakModule) => void)[];
  readonly print: () => void;
  readonly printErr: () => void;
}) => Promise<EspeakModule>;

const { default: runEspeak } = (await import(process.argv[2] ?? "")) as { default: RunEspeak };

async function speak({ text, voice }: EspeakRequest): Promise<Uint8Array> {
  const module = await runEspeak({
    arguments: ["-w", "speech.wav", "-v", voice, "-f", "text.txt"],
    preRun: [({ FS }) => FS.writeFile("text.txt", text)],
    print: () => {},
    printErr: () => {},
  });
  return module.FS.readFile("speech.wav");
}

async function answer(request: EspeakRequest): Promise<EspeakAnswer> {
  try {
    return { id: request.id, wav: await speak(request) };
  } catch {
    return { id: request.id, wav: undefined };
  }
}

let last = Promise.resolve();
process.on("message", (request: EspeakRequest) => {
  last = last.then(async () => void process.send?.(await answer(request)));
});
process.on("disconnect", () => process.exit());
