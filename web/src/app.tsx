import { ParleyProvider } from "@parley/react";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { JoinForm } from "./join/join-form.tsx";
import { JoinedTalkContext } from "./join/joined-talk.tsx";
import { connectTalk, createRoom, type JoinedTalk, joinTalk, toJoinError } from "./join/join-talk.ts";
import { forgetOpenTalk, loadOpenTalk, saveOpenTalk } from "./join/browser-storage.ts";
import { TalkPage } from "./talk/talk-page.tsx";

/** Returns the conversation that this tab was in before a reload. */
function reopened(): JoinedTalk | undefined {
  const open = loadOpenTalk();
  return open && { ...open, secret: "", liveKit: createRoom() };
}

/** Why the join form is shown again, and for which room. */
interface Failed {
  readonly error: unknown;
  readonly room: string;
}

export function App(): ReactNode {
  const [talk, setTalk] = useState(reopened);
  const [failed, setFailed] = useState<Failed>();
  const leave = useCallback((why?: Failed) => {
    forgetOpenTalk();
    setFailed(why);
    setTalk(undefined);
  }, []);

  useEffect(() => {
    if (!talk) return undefined;
    let isUnmounted = false;
    saveOpenTalk(talk);
    // Connects only in a later task: StrictMode starts each effect twice, but the room must be joined only once.
    const timer = setTimeout(() => {
      connectTalk(talk).catch((error: unknown) => {
        if (!isUnmounted) leave({ error, room: talk.room });
      });
    }, 0);
    return () => {
      isUnmounted = true;
      clearTimeout(timer);
      void talk.liveKit.disconnect();
    };
  }, [talk, leave]);

  const joined = useMemo(() => {
    if (!talk) return undefined;
    const { identity, about, secret } = talk;
    const open = (room: string) =>
      void joinTalk({ room, identity, about }, secret).then(setTalk, (error: unknown) => leave({ error, room }));
    return { talk, open };
  }, [talk, leave]);

  if (!joined || !talk)
    return <JoinForm onJoined={setTalk} room={failed?.room} problem={failed && toJoinError(failed.error)} />;
  return (
    <ParleyProvider
      key={talk.token}
      room={talk.liveKit}
      language={talk.about?.language || navigator.language}
      http={{ url: "", token: talk.token }}
    >
      <JoinedTalkContext value={joined}>
        <TalkPage onLeave={leave} onRejoin={() => setTalk({ ...talk, liveKit: createRoom() })} />
      </JoinedTalkContext>
    </ParleyProvider>
  );
}
