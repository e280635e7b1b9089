import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageSchemas } from "./message-schemas.ts";

const FOLDER = join(import.meta.dirname, "../schemas");

await mkdir(FOLDER, { recursive: true });
for (const [name, text] of messageSchemas()) await writeFile(join(FOLDER, name), text);
