import { readFileSync } from "node:fs";
import { AppError } from "../../errors/app-error.ts";

/** The server's own settings that a connection may begin with. A name with a dot is an extension's, or the application's. */
const SERVER_SETTINGS: ReadonlySet<string> = new Set([
  "options",
  "application_name",
  "search_path",
  "statement_timeout",
  "lock_timeout",
  "transaction_timeout",
  "idle_in_transaction_session_timeout",
  "idle_session_timeout",
  "timezone",
  "datestyle",
  "client_encoding",
  "role",
  "work_mem",
  "tcp_keepalives_idle",
  "tcp_keepalives_interval",
  "tcp_keepalives_count",
  "tcp_user_timeout",
]);
/** What is read here, or by the driver in the form in which it is handed on. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "sslmode",
  "ssl",
  "sslnegotiation",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "connect_timeout",
  "target_session_attrs",
  "prepare",
  "pgbouncer",
  "schema",
  "max_lifetime",
  "idle_timeout",
  "keep_alive",
]);
/**
 * Settings of libpq, of Prisma and of hosting services that change nothing here: channel binding, GSS encryption, TCP's own
 * signs of life, sizes of somebody else's pool. They are left out without a word.
 */
const MEANINGLESS =
  /^(?:channel_binding|gssencmode|krbsrvname|gsslib|require_auth|keepalives.*|uselibpqcompat|supa|workaround|connection_limit|pool_timeout|socket_timeout|statement_cache_size|sslaccept|sslidentity|sslpassword|sslcompression|sslsni|ssl_min_protocol_version|pool_mode|load_balance_hosts|fallback_application_name)$/u;

/**
 * The address of a database in a form that `URL` reads, from any form that libpq takes; `undefined` when it is none. Of a
 * Unix socket, the folder becomes the parameter `host`.
 */
export function toAddress(text: string): string | undefined {
  const [, scheme, user = "", place = "", rest = ""] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/su.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  const [, socket, port] = /^(%2f.*?)(?::(\d+))?$/iu.exec(place) ?? [];
  const isBare = place === "" && user !== "";
  const address =
    scheme +
    user +
    (socket !== undefined || isBare ? `localhost${port === undefined ? "" : `:${port}`}` : place) +
    rest;
  if (!URL.canParse(address)) return undefined;
  if (socket === undefined) return address;
  const url = new URL(address);
  url.searchParams.set("host", decodeURIComponent(socket));
  return url.href;
}

/** The parameters of an address that nobody knows here. They are not sent, because the server would refuse to connect. */
export function unknownParameters(address: string): readonly string[] {
  const names = [...new URL(address).searchParams.keys()];
  return names.filter((name) => {
    const isSetting = SERVER_SETTINGS.has(name.toLowerCase()) || name.includes(".");
    return !isSetting && !UNDERSTOOD.has(name) && !MEANINGLESS.test(name);
  });
}

/** What the driver is given for an address. */
interface DriverAddress {
  readonly url: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The server's settings. */
  readonly settings: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number | undefined;
}

/** @throws {AppError} `invalid_config` when a certificate that it names cannot be read */
export function readAddress(address: string): DriverAddress {
  const url = new URL(address);
  const params = url.searchParams;
  const kept = (names: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => (params.has(name) ? [[name, params.get(name)]] : [])));
  const settings = [...params].filter(([name]) => SERVER_SETTINGS.has(name.toLowerCase()) || name.includes("."));
  const schema = params.get("schema");
  const [host, user, password, database] = ["host", "user", "password", "dbname"].map((name) => params.get(name));
  const seconds = Number(params.get("connect_timeout") ?? Number.NaN);
  const isPrepared = params.get("prepare") ?? (params.get("pgbouncer") === "true" ? "false" : undefined);
  const ssl = sslOf(params);
  url.search = "";
  return {
    url: url.href,
    options: {
      ...kept(["target_session_attrs", "sslnegotiation"]),
      ...(host && { host }),
      ...(params.has("port") && { port: Number(params.get("port")) }),
      ...(user && { user }),
      ...(password && { password }),
      ...(database && { database }),
      ...(isPrepared !== undefined && { prepare: isPrepared !== "false" }),
      ...(ssl !== undefined && { ssl }),
      ...Object.fromEntries(
        Object.entries(kept(["max_lifetime", "idle_timeout", "keep_alive"])).map(([name, value]) => [
          name,
          Number(value),
        ]),
      ),
    },
    settings: {
      ...(schema && { search_path: `"${schema.replaceAll('"', '""')}"` }),
      ...Object.fromEntries(settings),
    },
    connectTimeoutMs: seconds > 0 ? seconds * 1_000 : undefined,
  };
}

/** As in libpq: with a root certificate, `require` verifies it, too. */
function sslOf(params: URLSearchParams): unknown {
  const mode = params.get("sslmode") ?? params.get("ssl");
  // TLS is for networks: libpq uses none over a socket.
  if (params.get("host")?.startsWith("/")) return false;
  const [root, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) => params.get(name));
  if (mode === "disable" || mode === "false") return false;
  if (root === "system") return "verify-full";
  if (!root && !cert) return mode === "verify-ca" ? { checkServerIdentity: () => undefined } : (mode ?? undefined);
  const verifies = mode === "verify-full" || (root && mode !== "prefer" && mode !== "allow");
  return {
    ...(root && { ca: readCertificate("sslrootcert", root) }),
    ...(cert && { cert: readCertificate("sslcert", cert) }),
    ...(key && { key: readCertificate("sslkey", key) }),
    rejectUnauthorized: Boolean(verifies),
    ...(mode !== "verify-full" && { checkServerIdentity: () => undefined }),
  };
}

function readCertificate(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("invalid_config", `${name} of the database's address: ${path} cannot be read`, { cause: error });
  }
}
