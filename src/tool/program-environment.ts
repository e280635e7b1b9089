/** Variables that a system program needs. None of these contains a key, an address or a setting of Parley. */
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

/** Variables for a program that downloads: the machine's proxies and certificates. */
export const DOWNLOADS =
  "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS".split(
    " ",
  );

/** Returns the environment for npm and pip, including their own settings, some of which contain a registry's key. */
export function installerEnvironment(): NodeJS.ProcessEnv {
  const own = Object.keys(process.env).filter((name) => /^(?:npm_config|pip)_/iu.test(name));
  return programEnvironment(...DOWNLOADS, ...own);
}

/**
 * Returns the environment for a program that Parley starts: only the variables that the program needs. Otherwise, the
 * program would inherit all of Parley's environment: its keys, and variables that the program interprets in its own way
 * (livekit-server reads `LIVEKIT_PORT` and `REDIS_HOST`).
 *
 * @param names further variables to pass on, which the program itself reads
 */
export function programEnvironment(...names: readonly string[]): NodeJS.ProcessEnv {
  const set = [...NEEDED, ...names].filter((name) => process.env[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, process.env[name]]));
}
