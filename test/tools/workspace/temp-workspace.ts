import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder that contains a workspace, next to files that no tool may reach. */
export class TempWorkspace implements AsyncDisposable {
  readonly folder: string;
  readonly root: string;
  readonly outside: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.root = join(folder, "workspace");
    this.outside = join(folder, "outside");
  }

  static async create(files: Readonly<Record<string, string>> = {}): Promise<TempWorkspace> {
    const workspace = new TempWorkspace(await realpath(await mkdtemp(join(tmpdir(), "parley-workspace-"))));
    await Promise.all([workspace.root, workspace.outside].map((path) => mkdir(path)));
    await writeFile(join(workspace.outside, "secret.txt"), "secret");
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(workspace.root, path)), { recursive: true });
      await writeFile(join(workspace.root, path), text);
    }
    return workspace;
  }

  /** The settings for the tools. */
  get settings(): { readonly root: string } {
    return { root: this.root };
  }

  at(path: string): string {
    return join(this.root, path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
