/**
 * Whether the packages are on a registry: `parley`, `@parley/client`, `@parley/react`, `@parley/conformance` and
 * `create-parley` on npm, `parley-client` on PyPI. Until then, `parley` on npm is another project's package, and the
 * other names do not exist. So no page, template, help text or error may tell anyone to install or run them by name.
 */
export const IS_PUBLISHED: boolean = false;

/** How to create a new agent: what to type, and where. */
export const HOW_TO_CREATE = IS_PUBLISHED
  ? "npm create parley my-agent"
  : "npm run create -- ../my-agent, in a clone of Parley";
