import { fetchSpeechFiles, SPEECH_PARTS } from "./speech-files.ts";

// Downloads all speech models into a folder, for the Dockerfile.
const [folder = ""] = process.argv.slice(2);
await fetchSpeechFiles(folder, SPEECH_PARTS, (line) => process.stdout.write(`${line}\n`));
