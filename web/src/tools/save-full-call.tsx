import { type ReactNode, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { loadCall } from "../shared/worker-api.ts";
import { saveFile } from "../shared/save-file.ts";
import { useWords } from "../shared/words/words.ts";

interface SaveFullCallProps {
  readonly callId: string;
  /** The name of the call's tool. */
  readonly name: string;
}

/** Explains that a call is too large to show in full, and offers to save it as a file. */
export function SaveFullCall({ callId, name }: SaveFullCallProps): ReactNode {
  const { calls: words } = useWords();
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
      {words.isTooLarge}{" "}
      <button type="button" className="quiet" onClick={() => void save()}>
        {words.saveInFull}
      </button>
      {problem !== undefined && <span role="alert"> {problem}</span>}
    </p>
  );
}
