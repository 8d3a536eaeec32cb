/** Returns the item at an index that must exist. @throws RangeError if the index does not exist */
export function itemAt<T>(values: ArrayLike<T>, index: number): T {
  const item = values[index];
  if (item === undefined) throw new RangeError(`expected an index below ${values.length}, found ${index}`);
  return item;
}

/** Returns a value of a list that repeats. @throws RangeError for an empty list */
export function cyclicItem<T>(values: ArrayLike<T>, index: number): T {
  return itemAt(values, index % values.length);
}

/** Returns the value of a key that must exist. @throws RangeError if the key does not exist */
export function valueOf<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new RangeError(`expected a value of ${String(key)}, found none`);
  return value;
}
