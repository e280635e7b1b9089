import { connect, createServer } from "node:net";
import { startModelServer } from "../../../src/model-server/model-server.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";

// The model for an agent in a container, on port 9000. It rolls a die, whatever the user says.
const model = await startModelServer();
model.script(({ body }) => {
  const isRolled = JSON.stringify((body["messages"] as readonly unknown[]).at(-1)).includes('"tool_result"');
  return isRolled ? reply([text("I rolled it.")]) : reply([toolUse("roll_dice", { sides: 6 })]);
});
const { port } = new URL(model.url);
createServer((client) => {
  const server = connect(Number(port), "127.0.0.1");
  client.pipe(server).pipe(client);
  client.on("error", () => server.destroy());
  server.on("error", () => client.destroy());
}).listen(9000);
