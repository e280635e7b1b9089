import { type ReactNode, useState } from "react";
import { useJoinedTalk } from "../../join/joined-talk.tsx";
import { loadScenario } from "../../shared/worker-api.ts";
import { Problem } from "../../shared/problem.tsx";
import { useWords } from "../../shared/words/words.ts";

/** Copies the conversation as a test for `parley test`. */
export function CopyAsTest(): ReactNode {
  const { developer: words } = useWords();
  const { token } = useJoinedTalk();
  const [problem, setProblem] = useState<string>();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    setProblem(undefined);
    setCopied(false);
    try {
      await navigator.clipboard.writeText(await loadScenario(token));
      setCopied(true);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section>
      <h3>{words.test}</h3>
      <p className="row">
        <button type="button" onClick={() => void copy()}>
          {words.copyAsTest}
        </button>
      </p>
      <p className="hint" role="status">
        {isCopied && words.copiedAsTest}
      </p>
      <Problem text={problem} />
    </section>
  );
}
