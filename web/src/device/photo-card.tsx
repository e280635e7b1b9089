import { type ToolCall, useToolUI } from "@parley/react";
import type { ReactNode } from "react";
import { CallCard } from "../tools/call-card.tsx";

/** A photo is shown as one. */
export function PhotoUI(): ReactNode {
  useToolUI("take_photo", PhotoCard);
  return null;
}

function PhotoCard({ call }: { readonly call: ToolCall }): ReactNode {
  const { jpeg } = call.display ?? {};
  return (
    <>
      <CallCard call={call} />
      {typeof jpeg === "string" && (
        <img className="photo" src={`data:image/jpeg;base64,${jpeg}`} alt="What the camera saw" />
      )}
    </>
  );
}
