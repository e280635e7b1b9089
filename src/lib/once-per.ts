/**
 * The same function, which makes its value once for each object that it gets first, and keeps it as long as the object. The
 * other arguments must always be the same for an object.
 */
export function oncePer<Key extends object, Rest extends readonly unknown[], Value>(
  make: (key: Key, ...rest: Rest) => Value,
): (key: Key, ...rest: Rest) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>();
  return (key, ...rest) => {
    const known = made.get(key) ?? { value: make(key, ...rest) };
    made.set(key, known);
    return known.value;
  };
}
