import { AppError } from "../../errors/app-error.ts";

/**
 * The database's address with its password: the one that it holds, else PGPASSWORD, as libpq has it. There a password
 * is written as it is; in an address `@ / % ?` would have to be encoded.
 *
 * @throws {AppError} `invalid_config`
 */
export function withPassword(databaseUrl: string, password: string | undefined): string {
  const url = new URL(databaseUrl);
  if (!isEncoded(url.username) || !isEncoded(url.password)) {
    const expected = "expected a percent-encoded user and password (a % is %25), or the password in PGPASSWORD";
    throw new AppError("invalid_config", `DATABASE_URL: ${expected}, got a text of ${databaseUrl.length} characters`);
  }
  if (password === undefined || url.password !== "") return databaseUrl;
  url.password = encodeURIComponent(password);
  return url.href;
}

/** What may be shown of it: no password, and no settings, which may hold one. */
export function withoutPassword(databaseUrl: string): string {
  return Object.assign(new URL(databaseUrl), { password: "", search: "" }).href;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
