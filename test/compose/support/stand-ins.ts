import { existsSync } from "node:fs";
import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../support/processes/run-in-our-environment.ts";
import { buildLivekitServer } from "../../../src/worker/services/build-livekit-server.ts";
import { CACHE, PODMAN_ENV, ROOT } from "./containers.ts";

const FOLDER = join(import.meta.dirname, "../stand-ins");
const NPM = "npm@11.19.1";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** A base for images: a file tree that is installed from Debian packages. */
interface Tree {
  readonly suite: string;
  readonly packages: readonly string[];
}
/** The Debian release that the real Node image is based on. */
const BOOKWORM: Tree = { suite: "bookworm", packages: ["apt", "ca-certificates"] };
/** A newer release than bookworm (Debian 12), which lacks PostgreSQL 18. */
const FORKY: Tree = { suite: "forky", packages: ["postgresql-18", "haproxy", "busybox"] };

interface StandIn {
  readonly tree: Tree;
  /** Writes the files that `instructions` copy into the folder. */
  readonly fill?: (folder: string, tag: string) => Promise<unknown>;
  readonly instructions: string;
}

/**
 * The stand-ins, by the name of the real image. Each has the same paths, users, signals and commands as the real image.
 */
const STAND_INS: Readonly<Record<string, StandIn>> = {
  node: {
    tree: BOOKWORM,
    fill: async (folder, tag) => {
      const name = `node-${process.platform}-${process.arch}`;
      await install(folder, `${name}@${tag.replace(/-slim$/, "")}`);
      // npm looks for its settings next to the folder of the node program: with node in /usr/local/bin, they are in
      // /usr/local/etc.
      await rename(join(folder, "lib/node_modules", name, "bin/node"), join(folder, "node"));
      await rm(join(folder, "lib"), { recursive: true });
      await install(folder, NPM);
      await copyNpmSettings(folder);
    },
    instructions: `
ENV NODE_EXTRA_CA_CERTS=/usr/local/etc/certificates.pem PIP_CERT=/usr/local/etc/certificates.pem
COPY node /usr/local/bin/
COPY etc /usr/local/etc/
COPY lib/node_modules /usr/local/lib/node_modules/
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
  && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
CMD ["node"]`,
  },
  postgres: {
    tree: FORKY,
    fill: (folder) => cp(join(FOLDER, "postgres.sh"), join(folder, "entrypoint.sh")),
    instructions: `
ENV PATH=/usr/local/bin:/usr/lib/postgresql/18/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/18/docker
COPY entrypoint.sh /usr/local/bin/
RUN chmod 755 /usr/local/bin/entrypoint.sh && rm -rf /var/lib/postgresql && install -d -o postgres -g postgres -m 1777 /var/lib/postgresql /run/postgresql
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
ENTRYPOINT ["entrypoint.sh"]
CMD ["postgres"]`,
  },
  haproxy: {
    tree: FORKY,
    instructions: `
RUN ln -sf busybox /usr/bin/wget
USER haproxy
STOPSIGNAL SIGUSR1
ENTRYPOINT ["haproxy", "-W", "-db"]
CMD ["-f", "/usr/local/etc/haproxy/haproxy.cfg"]`,
  },
  "livekit/livekit-server": {
    tree: FORKY,
    fill: async (folder) =>
      cp(await buildLivekitServer(join(ROOT, ".cache"), progress), join(folder, "livekit-server")),
    instructions: `
RUN ln -sf busybox /usr/bin/wget
COPY livekit-server /livekit-server
ENTRYPOINT ["/livekit-server"]`,
  },
};

const progress = (line: string) => process.stderr.write(`test:compose: ${line}\n`);

/**
 * Creates a stand-in for each of these images that podman does not have, because this machine may not reach an image
 * registry. A stand-in has the name and the programs of the real image, but is built from Debian packages. So the tests
 * cannot notice what only the real image does.
 *
 * @throws {Error} for an image that has no stand-in
 */
export async function makeStandIns(images: readonly string[]): Promise<void> {
  for (const image of images) {
    const name = `docker.io/${image.includes("/") ? "" : "library/"}${image}`;
    if (!(await hasImage(name))) await make(image, name);
  }
}

async function make(image: string, name: string): Promise<void> {
  const [repository = "", tag = ""] = image.split(":");
  const standIn = STAND_INS[repository];
  if (!standIn) throw new Error(`${image} has no stand-in: add one to ${import.meta.filename}`);
  const base = await makeTree(standIn.tree);
  progress(`making a stand-in for ${image}`);
  const folder = join(CACHE, "stand-in");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await standIn.fill?.(folder, tag);
  await writeFile(join(folder, "Containerfile"), `FROM ${base}\n${standIn.instructions.trim()}\n`);
  await podman("build", "--isolation", "chroot", "--tag", name, folder);
  await rm(folder, { recursive: true });
}

async function makeTree(tree: Tree): Promise<string> {
  const { suite } = tree;
  const name = `localhost/debian-${suite}:latest`;
  if (await hasImage(name)) return name;
  const tarball = join(CACHE, `${suite}.tar`);
  if (!existsSync(tarball)) await installTree(tree, tarball);
  await podman("import", tarball, name);
  return name;
}

async function installTree({ suite, packages }: Tree, tarball: string): Promise<void> {
  progress(`installing a tree of Debian's ${suite}`);
  const options = [
    "--variant=minbase",
    `--include=${packages.join(",")}`,
    // Accepts a mirror whose package lists are some days old.
    '--aptopt=Acquire::Check-Valid-Until "false"',
    ...["man", "doc", "locale", "info"].map((each) => `--dpkgopt=path-exclude=/usr/share/${each}/*`),
  ];
  await runCommand("mmdebstrap", [...options, "--format=tar", suite, `${tarball}.new`]);
  await rename(`${tarball}.new`, tarball);
}

/**
 * Copies this machine's npm registry setting and certificates, so that builds install packages from the same registry.
 */
async function copyNpmSettings(folder: string): Promise<void> {
  await mkdir(join(folder, "etc"));
  const registry = await runCommand("npm", ["config", "get", "registry"], { cwd: "/" });
  await writeFile(join(folder, "etc/npmrc"), `registry=${registry.trim()}\n`);
  await cp(process.env["NODE_EXTRA_CA_CERTS"] ?? CERTIFICATES, join(folder, "etc/certificates.pem"));
}

async function install(prefix: string, name: string): Promise<void> {
  await runCommand("npm", ["install", "--global", "--prefix", prefix, "--no-audit", "--no-fund", name]);
}

async function hasImage(name: string): Promise<boolean> {
  return podman("image", "exists", name).then(
    () => true,
    () => false,
  );
}

async function podman(...args: readonly string[]): Promise<string> {
  return runCommand("podman", args, { env: { ...process.env, ...PODMAN_ENV } });
}
