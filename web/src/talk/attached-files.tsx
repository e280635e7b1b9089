import type { ReactNode } from "react";

interface AttachedFilesProps {
  readonly files: readonly File[];
  readonly onRemove: (file: File) => void;
}

/** The files that go with the next message. */
export function AttachedFiles({ files, onRemove }: AttachedFilesProps): ReactNode {
  if (files.length === 0) return null;
  return (
    <ul className="attached" aria-label="Attached">
      {files.map((file, index) => (
        <li key={index}>
          {file.name}
          <button type="button" aria-label={`Remove ${file.name}`} onClick={() => onRemove(file)}>
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}
