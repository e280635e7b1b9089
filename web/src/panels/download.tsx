import { type ReactNode, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { saveFile } from "../shared/save-file.ts";
import { loadTranscript } from "../shared/worker-api.ts";
import { Problem } from "../shared/problem.tsx";
import { useWords } from "../shared/words/words.ts";

/** Saves this conversation as a file. */
export function Download(): ReactNode {
  const words = useWords();
  const { token, room } = useJoinedTalk();
  const [problem, setProblem] = useState<string>();
  const download = (format: "markdown" | "json") => {
    setProblem(undefined);
    loadTranscript(token, format).then(
      (file) => saveFile(file, `${room}.${format === "markdown" ? "md" : "json"}`),
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <section>
      <h3>{words.conversations.saveThis}</h3>
      <p className="row">
        <button type="button" onClick={() => download("markdown")}>
          Markdown
        </button>
        <button type="button" onClick={() => download("json")}>
          JSON
        </button>
      </p>
      <Problem text={problem} />
    </section>
  );
}
