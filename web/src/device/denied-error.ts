type Denied = "location" | "clipboard" | "camera";

const NOT_ALLOWED = "the person or the browser does not allow this page to use it";
/** Texts by the name of a DOMException, or by the code of a GeolocationPositionError, because that has no name. */
const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: NOT_ALLOWED,
  1: NOT_ALLOWED,
  NotFoundError: "this device has none",
  NotReadableError: "another program uses it",
  2: "this device cannot determine it",
  3: "this device did not determine it in time",
};

/**
 * Returns an error that tells the model why the page cannot use a device feature, so that the model can tell the person
 * what to do.
 */
export function deniedError(what: Denied, error: unknown): Error {
  const { name, code, message } = error as {
    readonly name?: string;
    readonly code?: number;
    readonly message?: string;
  };
  const why = REASONS[name ?? String(code)] ?? message ?? String(error);
  return new Error(`The ${what} cannot be read: ${why}`, { cause: error });
}
