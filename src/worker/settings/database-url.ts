import { AppError } from "../../errors/app-error.ts";

interface Naming {
  /** The variable that holds the address. */
  readonly name: string;
  /** PGPASSWORD. */
  readonly password: string | undefined;
}

/**
 * The database's address with a password: the address's own, else PGPASSWORD, as in libpq. In PGPASSWORD a password is
 * written as it is; in an address `@ / % ?` must be percent-encoded.
 *
 * @throws {AppError} `invalid_config` when the address's user or password is not percent-encoded
 */
export function withPassword(databaseUrl: string, { name, password }: Naming): string {
  const url = new URL(databaseUrl);
  if (!isEncoded(url.username) || !isEncoded(url.password)) {
    const expected = "expected a percent-encoded user and password (a % is %25), or the password in PGPASSWORD";
    throw new AppError("invalid_config", `${name}: ${expected}, got a text of ${databaseUrl.length} characters`);
  }
  if (password === undefined || url.password !== "") return databaseUrl;
  url.password = encodeURIComponent(password);
  return url.href;
}

/** The address of our own PostgreSQL for people: without the password, and without the query, which may hold one. */
export function withoutPassword(databaseUrl: string): string {
  return Object.assign(new URL(databaseUrl), { password: "", search: "" }).href;
}

/** Where a database is, for errors and logs: without the user, and without parameters. */
export function databasePlace(databaseUrl: string): string {
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  const host = searchParams.get("hostaddr") ?? searchParams.get("host") ?? hostname;
  return `${host}:${searchParams.get("port") ?? (port || "5432")}${pathname}`;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
