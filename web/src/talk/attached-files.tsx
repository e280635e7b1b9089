import type { ReactNode } from "react";
import { toVisible } from "../shared/exact-json.ts";
import { ExactText } from "../shared/exact-text.tsx";
import type { AttachedFile } from "./attached-file.ts";
import { useWords } from "../shared/words/words.ts";

interface AttachedFilesProps {
  readonly files: readonly AttachedFile[];
  readonly onRemove: (file: AttachedFile) => void;
}

export function AttachedFiles({ files, onRemove }: AttachedFilesProps): ReactNode {
  const { talk: words } = useWords();
  if (files.length === 0) return null;
  return (
    <ul className="attached" aria-label={words.attachedFiles}>
      {files.map((attached, index) => (
        <li key={index}>
          {attached.thumbnail !== undefined && <img className="thumbnail" src={attached.thumbnail} alt="" />}
          <ExactText>{attached.file.name}</ExactText>
          <button
            type="button"
            aria-label={words.remove(toVisible(attached.file.name))}
            onClick={() => onRemove(attached)}
          >
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}
