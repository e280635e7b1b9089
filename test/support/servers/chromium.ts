import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { runCommand } from "../processes/run-in-our-environment.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
/** Without a font every letter would be the same box. */
const PACKAGES = ["chromium", "fonts-dejavu-core"];
/**
 * What each window would load for its address bar costs half a second of a processor, for each tab of a test. The flag
 * takes the place of Playwright's own, so what that turns off of what a test could meet is here, too.
 */
const OFF = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];
const FLAGS = [
  `--disable-features=${OFF.join(",")}`,
  // In a container root is all there is, and /dev/shm is small.
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--use-fake-ui-for-media-stream",
  "--use-fake-device-for-media-stream",
  "--autoplay-policy=no-user-gesture-required",
];

/**
 * A real Chromium without a window, with a camera and a microphone that are not. Whoever starts it closes it.
 *
 * @param spoken a WAV file that its microphone hears, once, from when it is turned on
 * @param wrap makes a program that runs it elsewhere, as in a network of its own
 */
export async function startChromium(
  spoken?: string,
  wrap: (chromium: string) => string | Promise<string> = (chromium) => chromium,
): Promise<Browser> {
  const executablePath = await wrap(await chromiumPath());
  const microphone = spoken === undefined ? [] : [`--use-file-for-fake-audio-capture=${spoken}%noloop`];
  return chromium.launch({ executablePath, args: [...FLAGS, ...microphone] });
}

/** Where the Chromium of this machine is. It is installed where there is none. */
export async function chromiumPath(): Promise<string> {
  return findChromium() ?? installChromium();
}

function findChromium(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
}

async function installChromium(): Promise<string> {
  const install = () =>
    runCommand("apt-get", [
      "install",
      "--yes",
      "--no-install-recommends",
      "-o",
      "DPkg::Lock::Timeout=120",
      ...PACKAGES,
    ]);
  try {
    // A fresh machine has no lists of packages.
    await install().catch(async () => {
      await runCommand("apt-get", ["update"]);
      await install();
    });
  } catch (error) {
    const how = "This test needs chromium on PATH, or Debian's apt-get and the right to install it";
    throw new Error(`${how}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  const installed = findChromium();
  if (installed === undefined) throw new Error("apt-get has installed chromium, and it is not on PATH");
  return installed;
}
