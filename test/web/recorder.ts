import type { Page } from "playwright-core";

/**
 * A script that starts to record what the page plays, at 16,000 samples per second. Its value is false if the page
 * plays nothing.
 */
const RECORD = `(() => {
  const audio = document.querySelector("[data-testid=sound] audio");
  if (!audio?.srcObject) return false;
  const context = new AudioContext({ sampleRate: 16000 });
  // Not an AudioWorklet, whose module the page's Content-Security-Policy would refuse.
  const recorder = context.createScriptProcessor(4096, 1, 1);
  window.recorded = [];
  recorder.onaudioprocess = ({ inputBuffer }) => window.recorded.push(...inputBuffer.getChannelData(0));
  context.createMediaStreamSource(audio.srcObject).connect(recorder);
  recorder.connect(context.destination);
  return true;
})()`;

/** Starts to record what the page plays. Returns whether it plays something. */
export async function record(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(RECORD);
}

/** Returns what was recorded so far: one channel at 16,000 samples per second, from -1 to 1. */
export async function recorded(page: Page): Promise<Float32Array> {
  return Float32Array.from(await page.evaluate<number[]>("window.recorded"));
}
