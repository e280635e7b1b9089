import { type ReactNode, useRef } from "react";
import { IconButton } from "../shared/icon-button.tsx";
import { KINDS } from "./attached-file.ts";
import { useWords } from "../shared/words/words.ts";

const PAPER_CLIP = "M20 11.5 12.5 19a5 5 0 0 1-7-7L13 4.5a3.3 3.3 0 0 1 4.7 4.7l-7.5 7.5a1.6 1.6 0 0 1-2.4-2.3L14.5 8";

/** Selects files for the next message. */
export function AttachButton({ onChosen }: { readonly onChosen: (files: readonly File[]) => void }): ReactNode {
  const { talk: words } = useWords();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton label={words.attach} path={PAPER_CLIP} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={[...KINDS, "text/*"].join()}
        onChange={({ currentTarget }) => {
          onChosen([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
    </>
  );
}
