import { readFileSync } from "node:fs";
import { AppError } from "../../errors/app-error.ts";

/** The parameters of an address that control encryption. */
export const TLS_PARAMETERS = [
  "sslmode",
  "ssl",
  "requiressl",
  "sslaccept",
  "sslnegotiation",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "sslpassword",
  "sslcrl",
  "ssl_min_protocol_version",
  "ssl_max_protocol_version",
] as const;

/** libpq's modes, and `no-verify`, the name that node-postgres and Heroku use for libpq's `require`. */
const MODES = ["disable", "allow", "prefer", "require", "no-verify", "verify-ca", "verify-full"];
const FILES = { sslrootcert: "ca", sslcert: "cert", sslkey: "key", sslcrl: "crl" } as const;
const VALUES = {
  sslpassword: "passphrase",
  ssl_min_protocol_version: "minVersion",
  ssl_max_protocol_version: "maxVersion",
} as const;

/**
 * Returns the driver's `ssl` option for an address, or `undefined` if the address does not mention TLS. As in libpq,
 * `require` verifies the server's certificate only if a root certificate is set, and Unix sockets never use TLS.
 *
 * @throws {AppError} `invalid_config` for an unknown mode or an unreadable certificate
 */
export function addressTls(params: URLSearchParams): unknown {
  const mode = modeOf(params);
  if (mode === "disable" || /^[/@]/u.test(params.get("host") ?? "")) return false;
  const root = params.get("sslrootcert");
  const settings = {
    ...Object.fromEntries(
      Object.entries(FILES).flatMap(([name, field]) => {
        const path = params.get(name);
        return path && path !== "system" ? [[field, readCertificate(name, path)]] : [];
      }),
    ),
    ...Object.fromEntries(
      Object.entries(VALUES).flatMap(([name, field]) => (params.has(name) ? [[field, params.get(name)]] : [])),
    ),
    // The certificate contains the host name, while `hostaddr` is the address to connect to.
    ...(params.has("hostaddr") && params.has("host") && { servername: params.get("host") }),
  };
  const hasSettings = Object.keys(settings).length > 0;
  // postgres.js falls back to an unencrypted connection only if `ssl` is the string "prefer".
  if (!hasSettings && (mode === undefined || mode === "prefer" || mode === "allow")) return mode && "prefer";
  const isFull = mode === "verify-full" || root === "system";
  const verifies = isFull || mode === "verify-ca" || (root && mode !== "no-verify" && !isLax(mode));
  return {
    ...settings,
    rejectUnauthorized: Boolean(verifies),
    ...(!isFull && { checkServerIdentity: () => undefined }),
  };
}

function isLax(mode: string | undefined): boolean {
  return mode === "prefer" || mode === "allow";
}

function modeOf(params: URLSearchParams): string | undefined {
  if (params.get("sslaccept") === "strict") return "verify-full";
  const mode = params.get("sslmode") ?? params.get("ssl") ?? (params.get("requiressl") === "1" ? "require" : undefined);
  if (mode === "false" || mode === "0") return "disable";
  // In Java and Node drivers, `ssl=true` means a verified connection.
  if (mode === "true" || mode === "1") return "verify-full";
  if (mode === undefined || MODES.includes(mode)) return mode;
  throw new AppError("invalid_config", `sslmode in the database address: expected one of ${MODES.join(", ")}`);
}

function readCertificate(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("invalid_config", `${name} in the database address: ${path} cannot be read`, { cause: error });
  }
}
