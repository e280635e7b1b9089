import { useClientTool } from "@parley/react";
import type { ReactNode } from "react";
import { useSwitches } from "../device/switches.ts";
import type { Folder } from "./folder.ts";
import { listFiles, readFile } from "./read-folder.ts";
import { useSharedFolder } from "./shared-folder.ts";

const READ_MS = 10_000;

const file = {
  type: "object",
  properties: { filePath: { type: "string", minLength: 1, maxLength: 4_096 } },
  required: ["filePath"],
} as const;
const folderPath = { type: "object", properties: { path: { type: "string", maxLength: 4_096 } } } as const;

interface FolderProps {
  readonly folder: Folder;
}

/** Offers the tools that read a folder while the person shares one. */
export function FileTools(): ReactNode {
  const folder = useSharedFolder();
  const on = useSwitches();
  if (!folder) return null;
  return (
    <>
      {on.read_local_file && <ReadLocalFile folder={folder} />}
      {on.list_local_files && <ListLocalFiles folder={folder} />}
    </>
  );
}

function ReadLocalFile({ folder }: FolderProps): ReactNode {
  useClientTool<{ filePath: string }>("read_local_file", file, {
    description: "Reads a text file in the folder that this person shares. Paths are relative to that folder.",
    timeoutMs: READ_MS,
    readOnly: true,
    run: ({ filePath }) => readFile(folder, filePath),
  });
  return null;
}

function ListLocalFiles({ folder }: FolderProps): ReactNode {
  useClientTool<{ path?: string }>("list_local_files", folderPath, {
    description:
      "Lists the folder that this person shares, or one below it by its path. Names of folders end in a slash.",
    timeoutMs: READ_MS,
    readOnly: true,
    run: ({ path = "" }) => listFiles(folder, path),
  });
  return null;
}
