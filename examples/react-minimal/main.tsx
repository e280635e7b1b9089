import { ParleyProvider, textOf, useClientTool, useMessage, useTalk } from "@parley/react";
import { Room } from "livekit-client";
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";

const themeInput = z.object({ theme: z.enum(["light", "dark"]) });

function Talk() {
  const { messages, send, isConnected } = useTalk();
  const [text, setText] = useState("");
  useClientTool("set_theme", themeInput, {
    description: "Switches this page between light and dark.",
    run: ({ theme }) => {
      document.documentElement.style.colorScheme = theme;
      return { theme };
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") send(text);
        setText("");
      }}
    >
      <ol>
        {messages.map(({ id }) => (
          <Message key={id} id={id} />
        ))}
      </ol>
      <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      <button disabled={!isConnected}>Send</button>
    </form>
  );
}

function Message({ id }: { readonly id: string }) {
  const message = useMessage(id);
  return message && <li>{`${message.role}: ${textOf(message)}`}</li>;
}

const body = JSON.stringify({ room: `minimal-${crypto.randomUUID()}`, identity: "me" });
const response = await fetch("/token", { method: "POST", headers: { "content-type": "application/json" }, body });
const { livekitUrl, token } = await response.json();
const room = new Room();
createRoot(document.getElementById("root") as HTMLElement).render(
  <ParleyProvider room={room} listens={false}>
    <Talk />
  </ParleyProvider>,
);
await room.connect(livekitUrl, token, { autoSubscribe: false }); // text only: no sound
