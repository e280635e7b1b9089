import { AppError } from "../../errors/app-error.ts";

interface Naming {
  /** The variable that contains the address. */
  readonly name: string;
  /** The value of PGPASSWORD. */
  readonly password: string | undefined;
}

/**
 * Returns the database's address with a password: the address's own, otherwise PGPASSWORD, as in libpq. PGPASSWORD
 * contains the plain password, whereas `@ / % ?` must be percent-encoded in an address.
 *
 * @throws {AppError} `invalid_config` if the address's user or password is not percent-encoded
 */
export function withPassword(databaseUrl: string, { name, password }: Naming): string {
  const url = new URL(databaseUrl);
  if (!isEncoded(url.username) || !isEncoded(url.password)) {
    const expected = "expected a percent-encoded user and password (a % is %25), or the password in PGPASSWORD";
    throw new AppError("invalid_config", `${name}: ${expected}, got a string of ${databaseUrl.length} characters`);
  }
  if (password === undefined || url.password !== "") return databaseUrl;
  url.password = encodeURIComponent(password);
  return url.href;
}

/**
 * Returns our own PostgreSQL's address for display: without the password, and without the query, which may contain a
 * password too.
 */
export function withoutPassword(databaseUrl: string): string {
  return Object.assign(new URL(databaseUrl), { password: "", search: "" }).href;
}

/** Returns a database's location for errors and logs, without user and parameters. */
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
