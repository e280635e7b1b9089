import { expect, test } from "vitest";
import { errorKind } from "../../../src/store/database/store-error.ts";

const kindOf = (code: string) => errorKind(Object.assign(new Error(), { code }));

test.each([
  ["unavailable", ["EPIPE", "EPERM", "ECONNRESET", "ETIMEDOUT", "ENOTFOUND", "CONNECTION_CLOSED", "08006", "57P03"]],
  ["refused", ["23503", "22P02", "54000"]],
  ["other", ["42P01", "P0001", "XX000"]],
])("%s: %j", (kind, codes) => {
  expect(codes.map(kindOf)).toEqual(codes.map(() => kind));
});
