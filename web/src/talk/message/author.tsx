import type { ReactNode } from "react";
import { ExactText } from "../../shared/exact-text.tsx";
import { useWords } from "../../shared/words/words.ts";

/**
 * Who wrote a message.
 *
 * @param props.name absent if the person at this page wrote it
 */
export function Author({ name }: { readonly name: string | undefined }): ReactNode {
  const words = useWords();
  return <p className="who">{name === undefined ? words.message.you : <ExactText>{name}</ExactText>}</p>;
}
