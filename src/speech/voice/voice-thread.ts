import { join } from "node:path";
import { workerData } from "node:worker_threads";
import { loadOnnx } from "../onnx.ts";
import { serveModel } from "../serve-model.ts";
import { createVoice } from "./index.ts";

const folder = String(workerData);
const voice = await createVoice(join(folder, "hibari"), await loadOnnx(join(folder, "runtime")));
serveModel((text: string) => voice.speak(text));
