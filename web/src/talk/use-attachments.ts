import { useCallback, useEffect, useState } from "react";
import { type AttachedFile, attachFile, MAX_TOTAL_BYTES } from "./attached-file.ts";
import { useWords } from "../shared/words/words.ts";
import { toMegabytes } from "../shared/words/formats.ts";

interface Attachments {
  readonly files: readonly AttachedFile[];
  /** A message for the user: why the last file was not attached, or why the files cannot be sent. */
  readonly problem: string | undefined;
  /** Whether a file must be removed before the others can be sent. */
  readonly isTooLarge: boolean;
  /** Never rejects. */
  readonly add: (chosen: readonly File[]) => Promise<void>;
  readonly remove: (file: AttachedFile) => void;
  readonly clear: () => void;
}

/** Returns the files for the next message: selected, pasted, or dropped anywhere on the page. */
export function useAttachments(): Attachments {
  const words = useWords();
  const [files, setFiles] = useState<readonly AttachedFile[]>([]);
  const [problem, setProblem] = useState<string>();
  const add = useCallback(async (chosen: readonly File[]) => {
    setProblem(undefined);
    for (const file of chosen) {
      try {
        const attached = await attachFile(file);
        setFiles((known) => [...known, attached]);
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error));
      }
    }
  }, []);
  useEffect(() => {
    // Listens on the whole window: otherwise, the browser would leave this page to show the dropped file.
    const onDragOver = (event: DragEvent) => hasFiles(event) && event.preventDefault();
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      void add([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener("dragover", onDragOver);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragover", onDragOver);
      window.removeEventListener("drop", onDrop);
    };
  }, [add]);
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const isTooLarge = bytes > MAX_TOTAL_BYTES;
  const tooLarge = words.talk.tooLarge(toMegabytes(bytes), toMegabytes(MAX_TOTAL_BYTES));
  return {
    files,
    problem: isTooLarge ? tooLarge : problem,
    isTooLarge,
    add,
    remove: (file) => setFiles(files.filter((each) => each !== file)),
    clear: () => setFiles([]),
  };
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes("Files") === true;
}
