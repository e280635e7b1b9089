/**
 * Code around a TypeScript fragment from a page, so that the fragment can be type-checked. If the fragment has imports,
 * they are moved before this code.
 */
interface Surroundings {
  readonly before: string;
  readonly after?: string;
}

const inConfig: Surroundings = {
  before: 'import { defineConfig } from "parley";\nexport default defineConfig({ instructions: "x",',
  after: "});",
};
const dispatch: Surroundings = {
  before:
    'import { AgentDispatchClient } from "livekit-server-sdk";\ndeclare const url: string, key: string, secret: string;',
};
const token = "declare const livekitUrl: string, token: string;";
const parley = 'import type { Parley } from "@parley/client";\ndeclare const parley: Parley;';
const inTool = 'import { defineTool } from "parley";\nexport default defineTool({ description: "x",';

/**
 * The code around each fragment, by the page and the first line of the fragment. A block that is not listed is a
 * complete module.
 */
export const SURROUNDINGS: Readonly<Record<string, Surroundings>> = {
  'clients/react/README.md: import { ParleyProvider, textOf, useMessage, useTalk } from "@parley/react";': {
    before: token,
  },
  "docs/agents.md: // livekit-server-sdk": dispatch,
  'docs/agents.md: await new AgentDispatchClient(url, key, secret).createDispatch("sales-42", "billing");': dispatch,
  'docs/agents.md: greeting: { ask: "Greet the caller by name, in the caller\'s language, and say what time the office closes today." },':
    inConfig,
  'docs/agents.md: greeting: { say: "This call is recorded. How can I help?", interruptible: false },': inConfig,
  'docs/client.md: import { Room } from "livekit-client";': {
    before: `${token}\ndeclare function show(text: string): void;`,
  },
  'docs/client.md: const answer = await parley.ask("What is broken here?", { attachments: [fileInput.files[0]] });': {
    before: `${parley}\ndeclare const fileInput: { readonly files: readonly [File] };`,
  },
  'docs/client.md: import { askUserTool } from "@parley/client/forms";': {
    before: `${parley}\ndeclare function showForm(form: object): Promise<Record<string, string> | undefined>;`,
  },
  "docs/long-talks.md: context: {": inConfig,
  "docs/mcp.md: mcpServers: {": inConfig,
  "docs/permissions.md: permission: {": inConfig,
  'docs/permissions.md: import { createOpencodeClient } from "@opencode-ai/sdk/v2";': { before: token },
  "docs/testing.md: await using servers = await startRoomServers();": {
    before: 'import { scripted, startRoomServers, startTalk } from "parley/testing";\nconst model = scripted([]);',
  },
  'docs/tools.md: import { PermissionDenied } from "parley";': {
    before: [
      'import { z } from "zod";',
      "declare function resolveHost(url: string): Promise<string>;",
      "declare function visit(host: string): Promise<object>;",
      `${inTool} input: z.object({ url: z.url() }),`,
    ].join("\n"),
    after: "});",
  },
  "docs/tools.md: toolSettings: {": inConfig,
  "docs/turn-hooks.md: onUserTurn: ({ text }) =>": inConfig,
  'docs/tools.md: workspace: { root: "…", shell: ["unshare", "-Urpfn", "--mount-proc", "--kill-child", "bash", "-c"] },':
    {
      before: `${inConfig.before} toolSettings: {`,
      after: "}});",
    },
  "docs/voice.md: // in parley.config.ts": inConfig,
  "docs/voice.md: // in defineTool": {
    before: `import { z } from "zod";\n${inTool} input: z.object({}), run: () => ({}),`,
    after: "});",
  },
  "test/README.md: const database = forFile(tempDatabase);": {
    before: [
      'import { forEachTest, forFile } from "../../test/support/lifetimes.ts";',
      'import { tempDatabase } from "../../test/support/servers/temp-database.ts";',
      'import { VirtualClock } from "../../test/support/virtual-clock.ts";',
    ].join("\n"),
  },
};

/**
 * The test that runs certain blocks or compares them with real output, by the page and the language of these blocks.
 */
export const CHECKED_BY: Readonly<Record<string, string>> = {
  "README.md mermaid": "test/docs/drawings.test.ts",
  "docs/how-it-works.md mermaid": "test/docs/drawings.test.ts",
  "docs/events.md text": "test/http/events.test.ts",
  "docs/packages.md text": "test/scripts/write-sizes.test.ts",
  "docs/permissions.md http": "test/http/permission-docs.test.ts",
  "docs/permissions.md sse": "test/http/permission-docs.test.ts",
  "docs/protocol.md hex": "test/protocol/protocol-doc.test.ts",
  "docs/testing.md yaml": "test/docs/testing.test.ts",
  "docs/turns.md text": "test/docs/turns.test.ts",
  "clients/python/README.md py": "clients/python/tests/test_readme.py",
};

/**
 * Blocks that are drawings or output, each with the test of the code that prints it, or the reason why there is none.
 */
export const DRAWINGS_AND_OUTPUT: Readonly<Record<string, string>> = {
  "ARCHITECTURE.md: participant                         host process                                               PostgreSQL":
    "a drawing",
  "ARCHITECTURE.md: lib → errors → conversation → protocol → { agent, livekit, tool, permission, store, llm, telemetry } → turn → session → scenario → { http, voice } → worker":
    "test/layers.test.ts compares the imports with the same order",
  "docs/quickstart.md: parley: STT is not set: embedded models listen, in English":
    "test/worker/ready-line.test.ts has its last line of stderr, test/docs/readme.system.test.ts starts it",
  "docs/quickstart.md: [00:05:44] kitchen me-b91fcc: what is 21 * 2?":
    "test/worker/terminal/development-view.test.ts has the form of these lines",
  'docs/errors.md: parley: HTTP_PORT: expected a port from 1 to 65535, got "abc"':
    "test/worker/settings/load-config.test.ts",
  "docs/hooks.md: kitchen: ann said what is 21 * 2?": "test/docs/hooks.test.ts",
  "docs/long-talks.md: [Turns 1 to 480 of this conversation are no longer shown. Search them with recall.]":
    "test/session/context/long-talk.test.ts",
  "docs/operating.md: parley: LIVEKIT_API_SECRET_FILE: cannot read /run/secrets/livekit_api_secret (ENOENT)":
    "test/worker/settings/secret-files.test.ts",
  "docs/permissions.md: model           job process                      PostgreSQL                           the approver":
    "a drawing",
  'docs/testing.md: expected a call book {"city":"Rome"}. The turn was:': "test/testing/talk.test.ts",
  'docs/testing.md: call 2 differs from the one in book.cassette.json: messages[2].content[0].content: recorded "{\\"city\\":\\"Paris\\"}", now "{\\"city\\":\\"Rome\\"}"':
    "test/testing/cassette/cassette.test.ts",
  "docs/tools.md: create role parley_reader login password '…' connection limit 5;":
    "its password is none: who copies it must choose one",
  "docs/transcripts.md: # Transcript of `kitchen`": "test/http/transcript/transcript.test.ts",
};
