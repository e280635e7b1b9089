import type { ReactNode } from "react";
import { ExactText } from "../../shared/exact-text.tsx";

/**
 * Who wrote a message.
 *
 * @param props.name absent if the person at this page wrote it
 */
export function Author({ name }: { readonly name: string | undefined }): ReactNode {
  return <p className="who">{name === undefined ? "You" : <ExactText>{name}</ExactText>}</p>;
}
