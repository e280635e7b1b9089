import { statSync } from "node:fs";
import { didYouMean } from "../../lib/checks/did-you-mean.ts";
import { addressTls, TLS_PARAMETERS } from "./address-tls.ts";

/**
 * PostgreSQL settings that a client may send at connection start. A name with a dot is always accepted: it belongs to
 * an extension or to the application.
 */
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
/** Parameters that this module reads or passes to the driver. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  ...TLS_PARAMETERS,
  "host",
  "hostaddr",
  "port",
  "user",
  "password",
  "dbname",
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
 * Parameters of libpq, Prisma and hosting services that have no effect here. They are dropped and listed in the log.
 */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  // libpq
  "passfile",
  "require_auth",
  "channel_binding",
  "fallback_application_name",
  "keepalives",
  "keepalives_idle",
  "keepalives_interval",
  "keepalives_count",
  "replication",
  "gssencmode",
  "gssdelegation",
  "gsslib",
  "krbsrvname",
  "sslcompression",
  "sslcertmode",
  "sslcrldir",
  "sslkeylogfile",
  "sslsni",
  "requirepeer",
  "min_protocol_version",
  "max_protocol_version",
  "load_balance_hosts",
  "scram_client_key",
  "scram_server_key",
  "service",
  "servicefile",
  "oauth_issuer",
  "oauth_client_id",
  "oauth_client_secret",
  "oauth_scope",
  // Prisma
  "connection_limit",
  "pool_timeout",
  "socket_timeout",
  "statement_cache_size",
  "single_use_connections",
  "max_connection_lifetime",
  "max_idle_connection_lifetime",
  "sslidentity",
  // node-postgres, Supabase, Vercel
  "uselibpqcompat",
  "supa",
  "workaround",
  "pool_mode",
]);
/**
 * The folders in which PostgreSQL packages create the socket: the first one on Debian and Red Hat, the second
 * elsewhere.
 */
const SOCKET_FOLDERS = ["/var/run/postgresql", "/tmp"];

/**
 * Converts any address that libpq accepts for a single server to a form that `URL` can parse. The folder of a Unix
 * socket becomes the parameter `host`. Returns `undefined` for anything else.
 */
export function toAddress(text: string): string | undefined {
  const [, scheme, user = "", place = "", rest = ""] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/su.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  const [, socket, port = ""] = /^(%(?:2f|40).*?|)(:\d+)?$/iu.exec(place) ?? [];
  const hasNoHost = socket !== undefined;
  const address = scheme + user + (hasNoHost ? `localhost${port}` : place) + rest;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const host = url.searchParams.get("host") ?? url.searchParams.get("hostaddr") ?? (socket || undefined);
  // Only a single server is supported. If a list were accepted, only its first server would be used.
  if (`${host ?? ""}${url.host}`.includes(",")) return undefined;
  if (!hasNoHost) return address;
  const folder = host === undefined ? defaultFolder(url) : decoded(host);
  if (host !== undefined && folder === undefined) return undefined;
  if (folder !== undefined && !url.searchParams.has("hostaddr")) url.searchParams.set("host", folder);
  return url.href;
}

/**
 * Returns the folder of the socket on this machine, if there is one. As in libpq, an address without a host refers to
 * that socket.
 */
function defaultFolder({ port, searchParams }: URL): string | undefined {
  if (process.env["PGHOST"]) return process.env["PGHOST"];
  const file = `.s.PGSQL.${searchParams.get("port") ?? (port || process.env["PGPORT"] || "5432")}`;
  return SOCKET_FOLDERS.find((folder) => isTrusted(`${folder}/${file}`));
}

/**
 * Whether a socket is trusted with the password. In /tmp, only sockets of root and of our own user are trusted, because
 * any user of the machine can create a socket there.
 */
function isTrusted(socket: string): boolean {
  const stats = statSync(socket, { throwIfNoEntry: false });
  if (!stats) return false;
  return !socket.startsWith("/tmp/") || stats.uid === 0 || stats.uid === process.getuid?.();
}

function decoded(host: string): string | undefined {
  try {
    return decodeURIComponent(host);
  } catch {
    return undefined;
  }
}

interface UnusedParameters {
  /** Known parameters that have no effect here. */
  readonly withoutEffect: readonly string[];
  /** Unknown parameters, each with a "did you mean" hint. */
  readonly unknown: readonly string[];
}

/**
 * Returns the unused parameters of an address. They are not sent: the server refuses parameters that it does not know.
 */
export function unusedParameters(address: string): UnusedParameters {
  const names = [...new Set(new URL(address).searchParams.keys())].filter((name) => !isUsed(name));
  const known = [...SERVER_SETTINGS, ...UNDERSTOOD, ...WITHOUT_EFFECT];
  return {
    withoutEffect: names.filter((name) => WITHOUT_EFFECT.has(name)),
    unknown: names.filter((name) => !WITHOUT_EFFECT.has(name)).map((name) => `${name}.${didYouMean(name, known)}`),
  };
}

function isUsed(name: string): boolean {
  return isSetting(name) || UNDERSTOOD.has(name);
}

function isSetting(name: string): boolean {
  return SERVER_SETTINGS.has(name.toLowerCase()) || name.includes(".");
}

/** An address in the form that the driver accepts. */
interface DriverAddress {
  readonly url: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** PostgreSQL settings to send at connection start. */
  readonly settings: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number | undefined;
}

/**
 * Converts an address, as returned by `toAddress`, to the driver's options.
 *
 * @throws {AppError} `invalid_config` if `sslmode` is unknown or a certificate file in the address cannot be read
 */
export function readAddress(address: string): DriverAddress {
  const url = new URL(address);
  const params = new URLSearchParams(url.search);
  const kept = (names: readonly string[]) =>
    names.flatMap((name) => (params.has(name) ? [[name, params.get(name)]] : []));
  const schema = params.get("schema");
  const [user, password, database] = ["user", "password", "dbname"].map((name) => params.get(name));
  const host = params.get("hostaddr") ?? params.get("host");
  const port = params.get("port") ?? url.port;
  const seconds = Number(params.get("connect_timeout") ?? Number.NaN);
  const isPrepared = params.get("prepare") ?? (params.get("pgbouncer") === "true" ? "false" : undefined);
  const ssl = addressTls(params);
  url.search = "";
  return {
    url: url.href,
    options: {
      ...Object.fromEntries(kept(["target_session_attrs", "sslnegotiation"])),
      ...(host && { host }),
      // A socket in Linux's abstract namespace has no file.
      ...(host?.startsWith("@") && { path: `\0${host.slice(1)}/.s.PGSQL.${port || "5432"}` }),
      ...(port && { port: Number(port) }),
      ...(user && { user }),
      ...(password && { password }),
      ...(database && { database }),
      ...(isPrepared !== undefined && { prepare: isPrepared !== "false" }),
      ...(ssl !== undefined && { ssl }),
      ...Object.fromEntries(
        kept(["max_lifetime", "idle_timeout", "keep_alive"]).map(([name, value]) => [name, Number(value)]),
      ),
    },
    settings: {
      ...(schema && { search_path: `"${schema.replaceAll('"', '""')}"` }),
      ...Object.fromEntries([...params].filter(([name]) => isSetting(name))),
    },
    connectTimeoutMs: seconds > 0 ? seconds * 1_000 : undefined,
  };
}
