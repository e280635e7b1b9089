import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempFolder extends AsyncDisposable {
  readonly path: string;
}

/** A new empty folder, which is removed with its contents when disposed. */
export async function tempFolder(parent = tmpdir()): Promise<TempFolder> {
  const path = await mkdtemp(join(parent, "parley-test-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
