import { type Call } from "../../conversation/call.ts";
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/** Stands for a tool and its exact arguments: an approval of these is one of nothing else. */
export function hashInput({ toolName, input }: Pick<Call, "toolName" | "input">): string {
  return createHash("sha256")
    .update(`${toolName}\n${canonicalize(input)}`)
    .digest("base64url");
}
