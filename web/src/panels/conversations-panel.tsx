import type { ReactNode } from "react";
import { newRoom } from "../join/join-talk.ts";
import { useOpenTalk } from "../join/joined-talk.tsx";
import { Download } from "./download.tsx";
import { TalkList } from "./talk-list.tsx";
import { useWords } from "../shared/words/words.ts";

/** A new conversation, the earlier ones, and this one as a file. */
export function ConversationsPanel(): ReactNode {
  const words = useWords();
  const open = useOpenTalk();
  return (
    <div className="panel-body">
      <button type="button" className="primary" onClick={() => open(newRoom())}>
        {words.conversations.new}
      </button>
      <TalkList onOpen={open} />
      <Download />
    </div>
  );
}
