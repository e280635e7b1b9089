import { join } from "node:path";
import { workerData } from "node:worker_threads";
import { loadOnnx } from "../onnx.ts";
import { serveModel } from "../serve-model.ts";
import { Voice } from "./voice.ts";

const folder = String(workerData);
const voice = await Voice.load(join(folder, "hibari"), await loadOnnx(join(folder, "runtime")));
serveModel((text: string) => voice.speak(text));
