/** What a program of the system needs of our environment. None of these holds a key, an address or a setting of ours. */
const NEEDED = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TMPDIR",
  "TZ",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LD_LIBRARY_PATH",
];

/** What a program may need that downloads: the machine's proxies and certificates. */
const DOWNLOADS =
  "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS".split(
    " ",
  );

/** The environment of npm and pip: with their own settings, of which some hold a registry's key. */
export function installerEnvironment(): NodeJS.ProcessEnv {
  const own = Object.keys(process.env).filter((name) => /^(?:npm_config|pip)_/iu.test(name));
  return programEnvironment(...DOWNLOADS, ...own);
}

/**
 * The environment of a program that we start. Without it, a child process would inherit all of ours: our keys, and
 * variables that the program reads in its own way (livekit-server takes `LIVEKIT_PORT` and `REDIS_HOST`).
 *
 * @param names further variables that it may have, for what it reads itself
 */
export function programEnvironment(...names: readonly string[]): NodeJS.ProcessEnv {
  const set = [...NEEDED, ...names].filter((name) => process.env[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, process.env[name]]));
}
