import { expect, test } from "vitest";
import type { Call } from "../../../src/conversation/call.ts";
import { hashInput, toPermit } from "../../../src/session/permission/judge-call.ts";
import type { PermissionRecord } from "../../../src/store/permissions/load-permissions.ts";
import type { PermissionNeed } from "../../../src/tool/permission-need.ts";

const call = { toolName: "read", input: { path: "link" } } as unknown as Call;
const approved = {
  state: "approved",
  inputHash: hashInput(call),
  pattern: ["link", String.raw`notes/\[1\].md`],
  participantIdentity: "ann",
  editedInput: null,
} as unknown as PermissionRecord;
const needOf = (...values: string[]) => ({ type: "read", values }) as unknown as PermissionNeed;

test("an approval is for what was shown, even if an earlier version wrote it down", () => {
  expect(toPermit(approved, call, needOf("link", "notes/[1].md"))).toMatchObject({ isAllowed: true });
});

test("an approval for a path that now leads elsewhere does not count", () => {
  expect(toPermit(approved, call, needOf("link", ".env"))).toEqual({
    isAllowed: false,
    why: "the call would now touch something other than what was approved",
  });
});
