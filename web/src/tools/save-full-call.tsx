import { type ReactNode, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { loadCall } from "../shared/worker-api.ts";
import { saveFile } from "../shared/save-file.ts";

interface SaveFullCallProps {
  readonly callId: string;
  /** The name of the call's tool. */
  readonly name: string;
}

/** Explains that a call is too large to show in full, and offers to save it as a file. */
export function SaveFullCall({ callId, name }: SaveFullCallProps): ReactNode {
  const { token } = useJoinedTalk();
  const [problem, setProblem] = useState<string>();
  const save = async () => {
    setProblem(undefined);
    try {
      saveFile(await loadCall(token, callId), `${name}.json`);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <p className="note">
      Too large to show in full.{" "}
      <button type="button" className="quiet" onClick={() => void save()}>
        Save in full
      </button>
      {problem !== undefined && <span role="alert"> {problem}</span>}
    </p>
  );
}
