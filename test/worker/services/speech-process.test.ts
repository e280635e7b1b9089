import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { RemoteModel } from "../../../src/speech/remote-model.ts";
import { fetchSpeechFiles, RECOGNIZER_PARTS } from "../../../src/speech/speech-files.ts";
import { SpeechProcess } from "../../../src/worker/services/speech-process.ts";
import { createTestLogger } from "../../support/doubles/test-logger.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { pidsOf } from "../support/run-main.ts";

const FOLDER = join(import.meta.dirname, "../../../.cache/speech");
const RATE = 16_000;
const WAV_HEADER_BYTES = 44;

beforeAll(() => fetchSpeechFiles(FOLDER, RECOGNIZER_PARTS, () => {}), 180_000);
