import { checkOneRtcNode } from "../../livekit/one-rtc-node.ts";
import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import { loadTools } from "../../tool/load-tools.ts";
import { missingSpeech } from "../../voice/providers/speech-choice.ts";
import type { Config } from "../../worker/config.ts";
import { checkPorts } from "../../worker/settings/check-ports.ts";
import { loadConfig } from "../../worker/settings/load-config.ts";
import { missingSettings } from "../../worker/settings/missing-settings.ts";
import { checkServices } from "./check-services.ts";
import { type Finding, messageOf, missing, ok } from "./finding.ts";

export interface DoctorOptions {
  /** What `parley worker` needs, which starts nothing itself; else what `parley start` needs. */
  readonly isWorkerOnly: boolean;
}

/** Looks at every part, and changes none. */
export async function diagnose({ isWorkerOnly }: DoctorOptions): Promise<Finding[]> {
  const findings = [ok(`Node ${process.versions.node}`), await checkRtcNode()];
  let config: Config;
  try {
    config = await loadConfig(process.env, process.cwd());
  } catch (error) {
    const remedy = "correct it; parley init makes a folder that has all. What else is missing is only known after that";
    return [...findings, missing(messageOf(error), remedy)];
  }
  const unset = [...missingSettings(config, isWorkerOnly, !isWorkerOnly), ...missingSpeech(config.speech)];
  return [
    ...findings,
    ok("the config file and the environment"),
    await checkTools(config),
    ...unset.map((line) => missing(`not set: ${line}`, "set it in .env or in the environment")),
    ...(unset.length === 0 ? await checkServices(config) : []),
    await checkWhetherFree(config, isWorkerOnly),
  ];
}

async function checkRtcNode(): Promise<Finding> {
  try {
    checkOneRtcNode();
    await loadRtcNode();
    return ok("LiveKit's native library");
  } catch (error) {
    return missing(
      messageOf(error),
      "install again, on the machine where it is to run: rm -rf node_modules && npm install",
    );
  }
}

async function checkTools({ toolsFolder, toolSettings }: Config): Promise<Finding> {
  try {
    const names = [...(await loadTools(toolsFolder, toolSettings)).keys()];
    return ok(names.length === 0 ? "no tools" : `tools: ${names.join(", ")}`);
  } catch (error) {
    return missing(messageOf(error), "correct that file or setting");
  }
}

async function checkWhetherFree(config: Config, isWorkerOnly: boolean): Promise<Finding> {
  const url = `http://127.0.0.1:${config.httpPort}`;
  const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  if (answer?.ok) return ok(`ports: a worker runs at ${url}`);
  return checkPorts(config, isWorkerOnly).then(
    () => ok("ports: free"),
    (error: unknown) => missing(messageOf(error), "end what uses it, or choose another port in .env"),
  );
}
