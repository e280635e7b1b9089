/** Sizes in bytes, by package or folder name. */
export type Sizes = ReadonlyMap<string, number>;

/** The sizes of an installation and of the image. */
export interface Measured {
  /** The packages that a production install of `parley` contains. */
  readonly installed: Sizes;
  /** The folders in the image, without its base image, certificates and espeak-ng. */
  readonly image: Sizes;
  /** The installed size of `@parley/client`, in bytes. */
  readonly client: number;
  /** The sizes of the archives of `parley` and `@parley/client`, in bytes. */
  readonly packed: { readonly parley: number; readonly client: number };
}

const SHOWN = 12;

/** Formats the output of `npm run sizes`. */
export function describeSizes({ installed, image }: Measured): string {
  const total = `${inMb(sumOf(installed))} in ${installed.size} packages`;
  return [
    `parley, installed with --omit=dev: ${total}. The largest:`,
    ...largestOf(installed),
    "",
    `The image, without node:24-slim, certificates and espeak-ng: ${inMb(sumOf(image))}`,
    ...largestOf(image),
  ].join("\n");
}

/**
 * Replaces the figures between `<!-- sizes: … -->` and `<!-- /sizes -->` in a page.
 *
 * @throws {TypeError} if the page has no such place, or a place with a name other than `all`, `own` or `image`
 */
export function writeSizes(page: string, measured: Measured): string {
  const { installed, image, client, packed } = measured;
  const texts: Readonly<Record<string, string>> = {
    all: `\n\n\`\`\`text\n${describeSizes(measured)}\n\`\`\`\n\n`,
    own:
      `\`parley\` itself is ${inMb(installed.get("parley") ?? 0)} with its page, its tools and these pages, packed ` +
      `${inMb(packed.parley)}; \`@parley/client\` is ${inMb(client)}, packed ${inMb(packed.client, 2)}`,
    image: `${(sumOf(image) / 1e6).toFixed(0)} MB`,
  };
  let count = 0;
  const written = page.replaceAll(/(?<=<!-- sizes: (\w+) -->)[^]*?(?=<!-- \/sizes -->)/g, (_old, name: string) => {
    count++;
    const text = texts[name];
    if (text === undefined) throw new TypeError(`There are no sizes for "${name}"`);
    return text;
  });
  if (count === 0) throw new TypeError("The page has no <!-- sizes: … -->");
  return written;
}

export function sumOf(sizes: Sizes): number {
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

function largestOf(sizes: Sizes): string[] {
  const largest = [...sizes].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
  return largest.map(([name, size]) => `${inMb(size).padStart(10)}  ${name}`);
}

function inMb(bytes: number, digits = 1): string {
  return `${(bytes / 1e6).toFixed(digits)} MB`;
}
