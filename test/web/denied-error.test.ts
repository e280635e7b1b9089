import { expect, test } from "vitest";
import { deniedError } from "../../web/src/device/denied-error.ts";

test.each([
  ["camera", new DOMException("Permission denied", "NotAllowedError"), "does not allow this page to use it"],
  ["camera", new DOMException("Requested device not found", "NotFoundError"), "this device has none"],
  ["clipboard", new DOMException("Read permission denied.", "NotAllowedError"), "does not allow this page to use it"],
  ["location", { code: 1, message: "User denied Geolocation" }, "does not allow this page to use it"],
  ["location", { code: 3, message: "Timeout expired" }, "did not determine it in time"],
  ["clipboard", new Error("Document is not focused."), "Document is not focused."],
] as const)("a device's refusal (%s) is explained in words", (what, error, why) => {
  const { message } = deniedError(what, error);

  expect(message).toContain(`The ${what} cannot be read: `);
  expect(message).toContain(why);
});
