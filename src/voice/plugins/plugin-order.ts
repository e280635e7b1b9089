/** How long a plugin that has failed is used only if the others fail as well. */
const REST_MS = 30_000;

/** The plugins of a list, in the order in which they are tried. */
export class PluginOrder<Plugin> {
  readonly #plugins: readonly Plugin[];
  readonly #failedAt = new Map<Plugin, number>();

  constructor(plugins: readonly Plugin[]) {
    this.#plugins = plugins;
  }

  /** The plugins in the order of the list, with those that have recently failed at the end. */
  get current(): readonly Plugin[] {
    const hasFailed = (plugin: Plugin) => performance.now() - (this.#failedAt.get(plugin) ?? -Infinity) < REST_MS;
    return [...this.#plugins.filter((plugin) => !hasFailed(plugin)), ...this.#plugins.filter(hasFailed)];
  }

  markFailed(plugin: Plugin): void {
    this.#failedAt.set(plugin, performance.now());
  }
}
