import type { ReactNode } from "react";
import { toVisible } from "../shared/exact-json.ts";
import { ExactText } from "../shared/exact-text.tsx";
import type { AttachedFile } from "./attached-file.ts";

interface AttachedFilesProps {
  readonly files: readonly AttachedFile[];
  readonly onRemove: (file: AttachedFile) => void;
}

export function AttachedFiles({ files, onRemove }: AttachedFilesProps): ReactNode {
  if (files.length === 0) return null;
  return (
    <ul className="attached" aria-label="Attached">
      {files.map((attached, index) => (
        <li key={index}>
          {attached.thumbnail !== undefined && <img className="thumbnail" src={attached.thumbnail} alt="" />}
          <ExactText>{attached.file.name}</ExactText>
          <button
            type="button"
            aria-label={`Remove ${toVisible(attached.file.name)}`}
            onClick={() => onRemove(attached)}
          >
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}
