import { ParleyProvider } from "@parley/react";
import { Room } from "livekit-client";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { JoinForm } from "./join/join-form.tsx";
import { JoinedTalkContext } from "./join/joined-talk.tsx";
import { connectTalk, JoinError, type JoinedTalk } from "./join/join-talk.ts";
import { forgetOpenTalk, loadOpenTalk, saveOpenTalk } from "./join/remembered.ts";
import { TalkPage } from "./talk/talk-page.tsx";

/** A reload comes back to the talk that the tab was in. */
function reopened(): JoinedTalk | undefined {
  const open = loadOpenTalk();
  return open && { ...open, liveKit: new Room() };
}

export function App(): ReactNode {
  const [talk, setTalk] = useState(reopened);
  const [problem, setProblem] = useState<string>();
  const leave = useCallback((why?: string) => {
    forgetOpenTalk();
    setProblem(why);
    setTalk(undefined);
  }, []);

  useEffect(() => {
    if (!talk) return undefined;
    let isLeft = false;
    saveOpenTalk(talk);
    // In a task of its own: StrictMode ends an effect and begins it again at once, and a room must not be joined twice.
    const timer = setTimeout(() => {
      connectTalk(talk).catch((error: unknown) => {
        if (!isLeft) leave(error instanceof JoinError ? error.message : String(error));
      });
    }, 0);
    return () => {
      isLeft = true;
      clearTimeout(timer);
      void talk.liveKit.disconnect();
    };
  }, [talk, leave]);

  if (!talk) return <JoinForm onJoined={setTalk} problem={problem} />;
  return (
    <ParleyProvider
      key={talk.token}
      room={talk.liveKit}
      language={navigator.language}
      http={{ url: "", token: talk.token }}
    >
      <JoinedTalkContext value={talk}>
        <TalkPage onLeave={leave} onAgain={() => setTalk({ ...talk, liveKit: new Room() })} />
      </JoinedTalkContext>
    </ParleyProvider>
  );
}
