import { workerData } from "node:worker_threads";
import { serveModel } from "../serve-model.ts";
import { Moonshine } from "./moonshine.ts";

const moonshine = await Moonshine.load(String(workerData));
serveModel((samples: Float32Array<ArrayBuffer>) => moonshine.transcribe(samples));
