import { connect } from "@parley/client";
import { Room } from "livekit-client";

document.body.innerHTML = `
  <ol id="messages"></ol>
  <form><input aria-label="Message" /><button disabled>Send</button></form>`;
const list = document.querySelector("#messages") as HTMLElement;
const input = document.querySelector("input") as HTMLInputElement;
const button = document.querySelector("button") as HTMLButtonElement;

function add(text: string): HTMLElement {
  return list.appendChild(Object.assign(document.createElement("li"), { textContent: text }));
}

const body = JSON.stringify({ room: `vanilla-${crypto.randomUUID()}`, identity: "me" });
const response = await fetch("/token", { method: "POST", headers: { "content-type": "application/json" }, body });
const { livekitUrl, token } = (await response.json()) as { livekitUrl: string; token: string };
const room = new Room();
await room.connect(livekitUrl, token, { autoSubscribe: false }); // text only: no sound
const parley = await connect(room, { listens: false });

parley.registerTool<{ title: string }>({
  name: "set_title",
  description: "Sets the title of this page.",
  input: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
  run: ({ title }) => {
    document.title = title;
    return { title };
  },
});

const answers = new Map<string, HTMLElement>();
parley.on("answer_start", ({ id }) => answers.set(id, add("assistant: ")));
parley.on("sentence", ({ previousId, text }) => answers.get(previousId)?.append(`${text} `));

document.querySelector("form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (input.value.trim() === "") return;
  add(`user: ${input.value}`);
  parley.sendText(input.value);
  input.value = "";
});
button.disabled = false;
