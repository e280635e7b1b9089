import { type ToolCall, useToolUI } from "@parley/react";
import type { ReactNode } from "react";
import { CallCard } from "../tools/call-card.tsx";

/** A photo is shown as one. */
export function PhotoUI(): ReactNode {
  useToolUI("take_photo", PhotoCard);
  return null;
}

function PhotoCard({ call }: { readonly call: ToolCall }): ReactNode {
  const photo = call.status === "success" ? toAddress(call.output) : undefined;
  return (
    <>
      <CallCard call={call} />
      {photo !== undefined && <img className="photo" src={photo} alt="What the camera saw" />}
    </>
  );
}

function toAddress(output = ""): string | undefined {
  try {
    const { mimeType, base64 } = JSON.parse(output) as { mimeType?: unknown; base64?: unknown };
    return mimeType === "image/jpeg" && typeof base64 === "string" ? `data:image/jpeg;base64,${base64}` : undefined;
  } catch {
    return undefined;
  }
}
