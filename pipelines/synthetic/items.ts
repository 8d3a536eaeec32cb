/** Returns the item at an index. @throws RangeError if the index is outside the list */
export function itemAt<T>(values: ArrayLike<T>, index: number): T {
  const item = values[index];
  if (item === undefined) throw new RangeError(`expected an index below ${values.length}, found ${index}`);
  return item;
}

/** Returns the item at an index. An index past the end wraps around to the start of the list. @throws RangeError for an empty list */
export function cyclicItem<T>(values: ArrayLike<T>, index: number): T {
  return itemAt(values, index % values.length);
}

/** Returns the value of a key. @throws RangeError if the map does not have the key */
export function valueOf<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new RangeError(`expected a value of ${String(key)}, found none`);
  return value;
}
