import type { ReactNode } from "react";
import { newRoom } from "../join/join-talk.ts";
import { useOpenTalk } from "../join/joined-talk.tsx";
import { Download } from "./download.tsx";
import { TalkList } from "./talk-list.tsx";

/** A new conversation, the earlier ones, and this one as a file. */
export function ConversationsPanel(): ReactNode {
  const open = useOpenTalk();
  return (
    <div className="panel-body">
      <button type="button" className="primary" onClick={() => open(newRoom())}>
        New conversation
      </button>
      <TalkList onOpen={open} />
      <Download />
    </div>
  );
}
