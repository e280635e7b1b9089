import { SessionProvider, useAgent, useSession, useSessionMessages } from "@livekit/components-react";
import { Room, TokenSource } from "livekit-client";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

// An app that uses only LiveKit's hooks and nothing of Parley. test/web/livekit-app.test.ts runs it in a browser.

const query = new URLSearchParams(window.location.search);
const source = TokenSource.literal({
  serverUrl: query.get("url") ?? "",
  participantToken: query.get("token") ?? "",
});

// Set for the whole room, because livekit-client 2.23.0 ignores it among the publish options of setMicrophoneEnabled.
const room = new Room({ publishDefaults: { preConnectBuffer: true } });

function App(): ReactNode {
  const session = useSession(source, { room });
  const start = () => void session.start({ tracks: { microphone: { enabled: query.has("microphone") } } });
  return (
    <SessionProvider session={session}>
      <button onClick={start}>Start call</button>
      <Agent />
      <Messages />
    </SessionProvider>
  );
}

/** Shows all states so far, and why the session has failed. */
function Agent(): ReactNode {
  const { state, failureReasons } = useAgent();
  const [states, setStates] = useState<readonly string[]>([]);
  useEffect(() => setStates((before) => [...before, failureReasons?.join(" ") ?? state]), [state, failureReasons]);
  return <output aria-label="States">{states.join(", ")}</output>;
}

function Messages(): ReactNode {
  const { messages, send } = useSessionMessages();
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send(text);
  };
  return (
    <>
      {messages.map(({ id, message }) => (
        <p key={id}>{message}</p>
      ))}
      <form onSubmit={submit}>
        <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
      </form>
    </>
  );
}

const root = document.body.appendChild(document.createElement("div"));
createRoot(root).render(<App />);
