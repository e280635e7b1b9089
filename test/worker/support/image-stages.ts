import dockerignore from "@balena/dockerignore";
import { type Copy, DockerfileParser, type From } from "dockerfile-ast";
import { cp, mkdir, readFile, stat } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { runCommand } from "../../support/processes/run-in-our-environment.ts";

const WORK_FOLDER = "/app";

/**
 * Runs a Dockerfile's instructions without containers: each stage has a folder in place of the image's `/app`. `COPY`
 * copies only what `.dockerignore` permits, as a builder does. System packages are not installed: the machine's own are
 * used.
 *
 * @returns the folder of the last stage
 */
export async function runStages(context: string, dockerfile: string, target: string): Promise<string> {
  const instructions = DockerfileParser.parse(await readFile(join(context, dockerfile), "utf8")).getInstructions();
  const isLetThrough = dockerignore
    .default()
    .add(await readFile(join(context, ".dockerignore"), "utf8"))
    .createFilter();
  const stages = new Map<string, string>();
  let folder = "";
  for (const instruction of instructions)
    switch (instruction.getKeyword()) {
      case "FROM": {
        const name = (instruction as From).getBuildStage() ?? "last";
        folder = join(target, name);
        stages.set(name, folder);
        await mkdir(folder, { recursive: true });
        break;
      }
      case "COPY": {
        const copy = instruction as Copy;
        const from = copy.getFromFlag()?.getValue() ?? null;
        const source = from === null ? context : stages.get(from);
        if (source === undefined) throw new Error(`${dockerfile}: no stage ${from}`);
        const values = copy.getArguments().map((argument) => argument.getValue());
        const filter = from === null ? isLetThrough : () => true;
        await copyAll({ source, paths: values.slice(0, -1), target: resolve(folder, values.at(-1) ?? ""), filter });
        break;
      }
      case "RUN": {
        const command = instruction.getArgumentsContent() ?? "";
        if (!command.startsWith("apt-get")) await runCommand("sh", ["-ec", command], { cwd: folder });
        break;
      }
      default:
    }
  return folder;
}

interface Copying {
  readonly source: string;
  readonly paths: readonly string[];
  readonly target: string;
  readonly filter: (path: string) => boolean;
}

/** Copies files as a builder does. @throws {Error} for a path that does not exist or that `.dockerignore` excludes */
async function copyAll({ source, paths, target, filter }: Copying): Promise<void> {
  for (const path of paths) {
    const from = join(source, path.startsWith(WORK_FOLDER) ? relative(WORK_FOLDER, path) : path);
    const isFolder = (await stat(from)).isDirectory();
    const to = isFolder ? target : join(target, basename(from));
    const isWanted = async (each: string) => (await stat(each)).isDirectory() || filter(relative(source, each));
    if (!isFolder && !(await isWanted(from))) throw new Error(`COPY ${path}: .dockerignore does not let it through`);
    await cp(from, to, { recursive: true, verbatimSymlinks: true, filter: isWanted });
  }
}
