import { useTalk } from "@parley/react";
import type { ReactNode } from "react";
import { Questions } from "../device/questions.tsx";
import { Problems } from "../problems/problems.tsx";
import { Composer } from "./composer.tsx";
import { MessageList } from "./message-list.tsx";
import { Stage } from "../stage/stage.tsx";
import { useEarlierTurns } from "./use-earlier-turns.ts";
import { Welcome } from "../stage/welcome.tsx";
import { useWords } from "../shared/words/words.ts";

/** The messages, the agent's presence, and everything that a person answers or writes. */
export function Conversation({ onRejoin }: { readonly onRejoin: () => void }): ReactNode {
  const words = useWords();
  const { messages } = useTalk();
  const earlier = useEarlierTurns(messages);
  const isEmpty = earlier.isLoaded && earlier.turns.length === 0 && messages.length === 0;
  return (
    <main className="talk" aria-label={words.talk.label} data-empty={isEmpty}>
      {!isEmpty && <MessageList earlier={earlier} />}
      <Stage isEmpty={isEmpty}>{isEmpty && <Welcome />}</Stage>
      <div className="foot">
        <Problems onRejoin={onRejoin} />
        <Questions />
        <Composer />
      </div>
    </main>
  );
}
