/** The item at an index that was counted out to be there. @throws RangeError where there is none */
export function itemAt<T>(values: ArrayLike<T>, index: number): T {
  const item = values[index];
  if (item === undefined) throw new RangeError(`expected an index below ${values.length}, found ${index}`);
  return item;
}

/** Values over and over. @throws RangeError where there are none */
export function inTurn<T>(values: ArrayLike<T>, turn: number): T {
  return itemAt(values, turn % values.length);
}

/** The value of a key that was put there. @throws RangeError where there is none */
export function valueOf<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new RangeError(`expected a value of ${String(key)}, found none`);
  return value;
}
