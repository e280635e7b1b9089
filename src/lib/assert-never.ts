/** Marks a branch that the types say cannot be reached; reached all the same, it is a bug and throws. */
export function assertNever(value: never): never {
  throw new TypeError(`Unexpected value: ${JSON.stringify(value)}`);
}
