import { readFileSync } from "node:fs";
import { AppError } from "../../errors/app-error.ts";

/** Parameters of an address that say how the connection is encrypted. */
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

/** libpq's modes, and `no-verify`, which node-postgres and Heroku have for libpq's `require`. */
const MODES = ["disable", "allow", "prefer", "require", "no-verify", "verify-ca", "verify-full"];
const FILES = { sslrootcert: "ca", sslcert: "cert", sslkey: "key", sslcrl: "crl" } as const;
const VALUES = {
  sslpassword: "passphrase",
  ssl_min_protocol_version: "minVersion",
  ssl_max_protocol_version: "maxVersion",
} as const;

/**
 * The driver's `ssl` for an address; `undefined` when the address says nothing of it. As in libpq, `require` verifies the
 * server's certificate if there is a root certificate to do it with, and a Unix socket has no TLS.
 *
 * @throws {AppError} `invalid_config` for an unknown mode, and for a certificate that cannot be read
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
    // TLS looks for the name in the certificate, and `hostaddr` is where to connect.
    ...(params.has("hostaddr") && params.has("host") && { servername: params.get("host") }),
  };
  const hasSettings = Object.keys(settings).length > 0;
  // The driver tries without TLS only for the word.
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
  // Drivers for Java and Node mean a verified connection by it.
  if (mode === "true" || mode === "1") return "verify-full";
  if (mode === undefined || MODES.includes(mode)) return mode;
  throw new AppError("invalid_config", `sslmode of the database's address: expected one of ${MODES.join(", ")}`);
}

function readCertificate(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("invalid_config", `${name} of the database's address: ${path} cannot be read`, { cause: error });
  }
}
