/** Names of our packages, with or without a version. */
const OURS = /^(?:@parley\/[\w-]+|parley|create-parley|parley-client)(?:[@=<>~![].*)?$/;
/** Commands that request the listed packages from a registry. */
const ASKS = [
  /\b(?:npm|pnpm|yarn|bun)\s+(?:install|i|add)\b([^\n`]*)/g,
  /\b(?:npx|bunx|pnpx|(?:npm|pnpm)\s+(?:exec|x)|(?:pnpm|yarn)\s+dlx)\b([^\n`]*)/g,
  /\b(?:pip3?|uv|poetry|pipx|uvx)\s([^\n`]*)/g,
];
const CREATES = /\b(?:npm|pnpm|yarn|bun)\s+(?:create|init)\s+((?:-\S+\s+)*)(@?[a-z][\w/-]*)/g;
/** Where a command ends: a comment, the next command, or a quote in the surrounding language. */
const END = /\s#|&&|\|\||[;|'"]/;

/** The commands in a text that a registry would answer with 404 or with someone else's package. */
export function registryCommandsIn(text: string): string[] {
  const asks = ASKS.flatMap((pattern) => [...text.matchAll(pattern)]).filter(([, words = ""]) =>
    (words.split(END)[0] ?? "").split(/[\s=]+/).some((word) => OURS.test(word)),
  );
  const creates = [...text.matchAll(CREATES)].filter(
    ([, , name = ""]) => OURS.test(name) || OURS.test(`create-${name}`),
  );
  return [...asks, ...creates].map(([command]) => command.trim());
}
