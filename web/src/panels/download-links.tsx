import { type ReactNode, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { loadScenario, loadTranscript } from "../shared/worker-api.ts";
import { saveFile } from "../shared/save-file.ts";

/** Downloads the conversation as Markdown or JSON, or copies it as a test. */
export function DownloadLinks(): ReactNode {
  const { token, room } = useJoinedTalk();
  const [problem, setProblem] = useState<string>();
  const [isCopied, setCopied] = useState(false);
  const tell = (work: Promise<void>) => {
    setProblem(undefined);
    setCopied(false);
    work.catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  };
  const download = async (format: "markdown" | "json") =>
    saveFile(await loadTranscript(token, format), `${room}.${format === "markdown" ? "md" : "json"}`);
  const copy = async () => {
    await navigator.clipboard.writeText(await loadScenario(token));
    setCopied(true);
  };
  return (
    <section>
      <h2>Transcript</h2>
      <p className="row">
        <button type="button" onClick={() => tell(download("markdown"))}>
          Markdown
        </button>
        <button type="button" onClick={() => tell(download("json"))}>
          JSON
        </button>
        <button type="button" onClick={() => tell(copy())}>
          Copy as test
        </button>
      </p>
      <p className="hint" role="status">
        {isCopied && "Copied. Save it to a file whose name ends in .talk.yaml, then run npm run parley -- test."}
      </p>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
