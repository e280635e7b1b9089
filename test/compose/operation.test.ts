import { once } from "node:events";
import { chmod, chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { ROOT } from "./support/containers.ts";
import { engine, fetchToken, Project, showLogs } from "./support/project.ts";
import { Talk } from "./support/talk.ts";

let project: Project;
const create = async (options: Parameters<typeof Project.create>[0] = {}) => (project = await Project.create(options));
afterEach(async ({ task }) => {
  await showLogs(project, task.result?.state);
  await project[Symbol.asyncDispose]();
  await rm(join(ROOT, "parley.dump"), { force: true });
});

test("the commands in docs/operating.md back a conversation up and restore it into an empty volume", async () => {
  const page = await readFile(join(ROOT, "docs/operating.md"), "utf8");
  const [, section = ""] = /^### Back up and restore\n(.*?)^### /ms.exec(page) ?? [];
  const [backUp = "", restore = ""] = [...section.matchAll(/^```\n(.*?)^```/gms)].map(([, lines]) => lines);
  await create();
  await project.compose("up", "--detach", "--wait");
  {
    await using talk = await Talk.open({ room: "kept" });
    await talk.ask("what is 1 + 1?");
  }

  await project.shell(backUp);
  await project.compose("down", "--volumes");
  await project.shell(restore);

  await using talk = await Talk.open({ room: "kept" });
  expect((await talk.ask("what did I just say?")).text).toBe('You said: "what is 1 + 1?"');
});

test("keys and secrets may contain quotes, spaces, $, # and backslashes", async () => {
  const secret = `it's a "$HOME" #1 \\ 100 % long secret: [yes]`;
  const quoted = `'${secret.replaceAll("'", String.raw`\'`)}'`;
  const names = ["LIVEKIT_API_KEY", "LIVEKIT_API_SECRET", "POSTGRES_PASSWORD"];
  await create({ env: names.map((name) => `${name}=${quoted}\n`).join("") });

  await project.compose("up", "--detach", "--wait");
  await using talk = await Talk.open({ room: "odd", secret });

  expect((await talk.ask("what is 21 * 2?")).text).toContain("21 * 2 is 42.");
});

test("with deploy/compose.secrets.yml every service reads its secrets from files, and none is in its environment", async () => {
  const folder = join(ROOT, "secrets");
  await mkdir(folder);
  try {
    const secrets = {
      anthropic_api_key: "key-of-this-test",
      livekit_api_secret: "livekit-of-this-test-0123456789abcdef",
      livekit_keys: "development: livekit-of-this-test-0123456789abcdef",
      postgres_password: "postgres-of-this-test",
      token_secret: "token-of-this-test",
    };
    for (const [name, content] of Object.entries(secrets)) {
      const path = join(folder, name);
      await writeFile(path, `${content}\n`);
      // The owner and the mode are those in docs/operating.md.
      await chown(path, 1000, 0);
      await chmod(path, 0o640);
    }
    await create({ files: ["deploy/compose.secrets.yml"] });
    await project.compose("up", "--detach", "--wait");
    const { token } = await fetchToken("secret", "ana", secrets.token_secret);
    const ids = await project.compose("ps", "--quiet");
    const environments = await engine("inspect", "--format", "{{.Config.Env}}", ...ids.trim().split("\n"));

    expect(token).toMatch(/^ey/);
    expect(environments).toContain("TOKEN_SECRET_FILE=/run/secrets/token_secret");
    expect(environments).not.toContain("of-this-test");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("WORKER_MEMORY and WORKER_CPUS limit a worker", async () => {
  await create({ env: "WORKER_CPUS=1.5\nWORKER_MEMORY=1g\n" });
  await project.compose("up", "--detach", "--wait");
  const [worker = ""] = await project.containers("worker");

  const limits = await engine("inspect", "--format", "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}}", worker);

  expect(limits).toBe(`${1.5e9} ${2 ** 30}`);
});

test("a port that is in use is reported, and the next start works", async () => {
  await create();
  // Lets PostgreSQL create its database first. podman recreates the container on each start, and would otherwise stop
  // PostgreSQL while the database is still incomplete.
  await project.compose("up", "--detach", "--wait", "postgres");
  const other = createServer().listen(7880, "127.0.0.1");
  await once(other, "listening");

  const start = () => project.compose("up", "--detach", "--wait");
  await expect(start()).rejects.toThrow(/7880/);
  other.close();
  await once(other, "close");

  await start();
});

test("a volume from another major version of PostgreSQL stops the start, is reported in the log, and stays unchanged", async () => {
  await create();
  const volume = ["--volume", "parley_postgres:/var/lib/postgresql"];
  const inVolume = (script: string) =>
    engine("run", "--rm", "--network", "none", ...volume, "--entrypoint", "sh", "postgres:18.6-alpine", "-c", script);
  const folder = "/var/lib/postgresql/18/docker";
  await inVolume(
    `mkdir -p ${folder} && echo 17 > ${folder}/PG_VERSION && touch ${folder}/postgresql.conf && chmod 700 ${folder} && chown -R postgres /var/lib/postgresql/18`,
  );

  // PostgreSQL's container restarts in a loop. Compose gives up when it sees the container while it is down, or else
  // when the timeout has passed.
  await expect(project.compose("up", "--detach", "--wait", "--wait-timeout", "30")).rejects.toThrow(/postgres/);

  expect(await project.compose("logs", "postgres")).toMatch(
    /incompatible with server|initialized by PostgreSQL version 17/,
  );
  expect(await inVolume(`cat ${folder}/PG_VERSION`)).toBe("17");
});
