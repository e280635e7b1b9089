/**
 * Memoizes a function by its first argument: it runs once per object, and the result lives as long as the object. For
 * the same object, the other arguments must always be the same.
 */
export function memoizeByObject<Key extends object, Rest extends readonly unknown[], Value>(
  make: (key: Key, ...rest: Rest) => Value,
): (key: Key, ...rest: Rest) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>();
  return (key, ...rest) => {
    const known = made.get(key) ?? { value: make(key, ...rest) };
    made.set(key, known);
    return known.value;
  };
}
