/**
 * Runs work on items in parallel, at most `most` at a time. The next item to start is the first waiting item without unfinished predecessors. After a failure
 * no new work starts, and running work ends before the error is thrown, because the writer's lock must not be released earlier.
 * @param work receives a lane from 0 to `most` − 1 that no other running work has
 * @param after returns the items that must end first; values outside `items` are ignored
 * @returns the results in the order of the items
 */
export async function together<T, R>(
  most: number, items: readonly T[], work: (item: T, lane: number) => Promise<R>, after: (item: T) => readonly T[] = () => [],
): Promise<R[]> {
  const waiting = new Set(items);
  const unfinished = new Set(items);
  const free = Array.from({ length: Math.max(1, most) }, (_, lane) => lane);
  const working = new Set<Promise<void>>();
  const results = new Map<T, R>();
  const failures: unknown[] = [];
  const begin = async (item: T, lane: number): Promise<void> => {
    try {
      results.set(item, await work(item, lane));
    } catch (error) {
      failures.push(error);
    }
    unfinished.delete(item);
    free.push(lane);
  };
  for (;;) {
    for (const item of waiting) {
      if (failures.length > 0 || after(item).some((each) => unfinished.has(each))) continue;
      const lane = free.pop();
      if (lane === undefined) break;
      waiting.delete(item);
      const done: Promise<void> = begin(item, lane).finally(() => working.delete(done));
      working.add(done);
    }
    if (working.size === 0) break;
    await Promise.race(working);
  }
  if (failures.length > 0) throw failures[0];
  if (waiting.size > 0) throw new Error('The waiting items wait for each other.');
  return items.map((item) => results.get(item) as R);
}

/** Works on items in parallel, at most `most` at a time. @yields the results in the order of the items */
export async function* ahead<T, R>(most: number, items: Iterable<T> | AsyncIterable<T>, work: (item: T) => Promise<R>): AsyncGenerator<R, void, undefined> {
  const working: Promise<R>[] = [];
  for await (const item of items) {
    const begun = work(item);
    // A failure is thrown when the result is awaited below. Until then it must not count as unhandled.
    begun.catch(() => undefined);
    working.push(begun);
    if (working.length >= most) yield await (working.shift() as Promise<R>);
  }
  for (const begun of working) yield await begun;
}
