import { toolResult, useClientTool } from "@parley/react";
import type { ReactNode } from "react";
import { takePhoto } from "./camera.ts";
import { deniedError } from "./denied-error.ts";
import { showNotice } from "./notices.ts";
import { useSwitches } from "./switches.ts";
import { getWords } from "../shared/words/words.ts";

/** How long a person has to notice a request and to think. */
const PERSON_MS = 120_000;
const LOCATION_MS = 20_000;

const nothing = { type: "object", properties: {} } as const;
const message = {
  type: "object",
  properties: { message: { type: "string", maxLength: 500 } },
  required: ["message"],
} as const;

/** Offers the device tools that are turned on, even before joining. `Forms` offers `ask_user` itself. */
export function DeviceTools(): ReactNode {
  const on = useSwitches();
  return (
    <>
      {on.show_notification && <ShowNotification />}
      {on.get_location && <GetLocation />}
      {on.read_clipboard && <ReadClipboard />}
      {on.take_photo && <TakePhoto />}
    </>
  );
}

function ShowNotification(): ReactNode {
  useClientTool<{ message: string }>("show_notification", message, {
    description: "Shows a short text on this person's screen.",
    run: (input) => {
      showNotice(input.message);
      return { shown: true };
    },
  });
  return null;
}

function GetLocation(): ReactNode {
  useClientTool("get_location", nothing, {
    description: "Tells where this person's device is: latitude, longitude and accuracy in metres.",
    timeoutMs: LOCATION_MS,
    readOnly: true,
    run: async () => {
      const { promise, resolve, reject } = Promise.withResolvers<GeolocationPosition>();
      navigator.geolocation.getCurrentPosition(resolve, (error) => reject(deniedError("location", error)), {
        timeout: LOCATION_MS,
      });
      const { latitude, longitude, accuracy } = (await promise).coords;
      return { latitude, longitude, accuracyMetres: Math.round(accuracy) };
    },
  });
  return null;
}

function ReadClipboard(): ReactNode {
  useClientTool("read_clipboard", nothing, {
    description: "Reads the text of this person's clipboard.",
    readOnly: true,
    run: async () => {
      const text = await navigator.clipboard.readText().catch((error: unknown) => {
        throw deniedError("clipboard", error);
      });
      return { text };
    },
  });
  return null;
}

function TakePhoto(): ReactNode {
  useClientTool("take_photo", nothing, {
    description: "Takes a photo with this device's camera, and shows it to you.",
    timeoutMs: PERSON_MS,
    readOnly: true,
    run: async (_input, { signal }) => {
      const { base64, ...size } = await takePhoto(signal);
      const content = [{ type: "image", source: { data: base64 } }] as const;
      const display = { title: getWords().settings.photo, src: `data:image/jpeg;base64,${base64}` };
      return toolResult({ result: size, content, display });
    },
  });
  return null;
}
