import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { runCommand } from "../processes/run-in-our-environment.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
/** The Debian packages to install. Without the fonts, Chromium would show every letter as the same box. */
const PACKAGES = ["chromium", "fonts-dejavu-core"];
/**
 * Features to turn off. The first three make each window load things for its address bar, which takes half a second of
 * CPU time for each tab in a test. The others are those in Playwright's own flag that could affect a test: our flag
 * replaces Playwright's.
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
  // For containers, which run as root and have a small /dev/shm.
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--use-fake-ui-for-media-stream",
  "--use-fake-device-for-media-stream",
  "--autoplay-policy=no-user-gesture-required",
];

/**
 * Starts a real headless Chromium with a fake camera and a fake microphone. The caller closes it.
 *
 * @param spoken a WAV file that the microphone plays once, from the moment it is turned on
 * @param wrap returns a program that runs Chromium elsewhere, such as in a separate network
 */
export async function startChromium(
  spoken?: string,
  wrap: (chromium: string) => string | Promise<string> = (chromium) => chromium,
): Promise<Browser> {
  const executablePath = await wrap(await chromiumPath());
  const microphone = spoken === undefined ? [] : [`--use-file-for-fake-audio-capture=${spoken}%noloop`];
  return chromium.launch({ executablePath, args: [...FLAGS, ...microphone] });
}

/** The path of this machine's Chromium, which is installed if there is none. */
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
    // The first attempt fails on a fresh machine, which has no package lists.
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
