import { expect, test } from "vitest";
import { isPublicAddress } from "../../../tools/web/_address-guard.ts";
import { parsePageUrl } from "../../../tools/web/_page-url.ts";

test.each(["1.1.1.1", "93.184.215.14", "172.32.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])(
  "%s is public",
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each([
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "100.64.0.1",
  "100.100.100.200",
  "127.0.0.1",
  "127.255.255.254",
  "168.63.129.16",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
])("%s is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  "::",
  "::1",
  "::7f00:1",
  "::127.0.0.1",
  "::8.8.8.8",
  "::ffff:7f00:1",
  "::ffff:169.254.169.254",
  "::ffff:168.63.129.16",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::169.254.169.254",
  "64:ff9b:1::a00:1",
  "2002:7f00:1::",
  "2002:808:808::1",
  "2001::1",
  "2001:db8::1",
  "3fff::1",
  "100::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "4000::1",
  "5f00::1",
])("%s is not public either", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  "",
  "localhost",
  "127.1",
  "0x7f.1",
  "2130706433",
  "017700000001",
  "1.1.1.1 ",
  "1.1.1.1:80",
  "[::1]",
  "1.1.1",
])("%j is not an address, so it is not public", (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

test.each([
  ["http://0x7f.1/", "127.0.0.1"],
  ["http://2130706433/", "127.0.0.1"],
  ["http://017700000001/", "127.0.0.1"],
  ["http://127.1/", "127.0.0.1"],
  ["http://0177.0.0.1/", "127.0.0.1"],
  ["http://①②⑦.0.0.1/", "127.0.0.1"],
  ["http://127。0。0。1/", "127.0.0.1"],
  ["http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"],
  ["http://[0:0:0:0:0:0:0:1]/", "[::1]"],
])("%s is evaluated by the address it stands for", (text, hostname) => {
  expect(parsePageUrl(text).hostname).toBe(hostname);
  expect(isPublicAddress(hostname.replace(/[[\]]/g, ""))).toBe(false);
});

test.each([
  ["file:///etc/passwd", "Only http and https"],
  ["gopher://example.com/", "Only http and https"],
  ["ftp://example.com/", "Only http and https"],
  ["data:text/plain,hi", "Only http and https"],
  ["javascript:alert(1)", "Only http and https"],
  ["blob:http://example.com/1", "Only http and https"],
  ["http://user@example.com/", "user name or password"],
  ["http://example.com@127.0.0.1/", "user name or password"],
  ["http://a:b@example.com/", "user name or password"],
  ["http://example.com:22/", "URLs with port 22 cannot be fetched"],
  ["http://example.com:25/", "URLs with port 25 cannot be fetched"],
  ["http://example.com:0/", "URLs with port 0 cannot be fetched"],
  ["http://example.com:65536/", "not a valid URL"],
  ["http://", "not a valid URL"],
  ["http://[::1", "not a valid URL"],
  ["http://exa mple.com/", "not a valid URL"],
  ["http://256.256.256.256/", "not a valid URL"],
  ["//example.com/", "not a valid URL"],
  ["example.com", "not a valid URL"],
  ["", "not a valid URL"],
  [`http://example.com/${"x".repeat(3_000)}`, "longer than 2048 characters"],
])("the URL %s is refused", (text, message) => {
  expect(() => parsePageUrl(text)).toThrow(message);
});

test("a line break inside a URL is dropped, so it cannot add a header", () => {
  expect(parsePageUrl("http://example.com/a\r\nHost: b#top").href).toBe("http://example.com/aHost:%20b");
});
