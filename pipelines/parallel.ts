/** Runs work on items in parallel. The package p-limit enforces the maximum number of parallel items. */
import pLimit from 'p-limit';

interface ParallelOptions<T> {
  /** Returns the items that must end before an item starts. Ignores values that are not in the list of items. */
  readonly after?: (item: T) => readonly T[];
}

/**
 * Works on items in parallel, at most `most` at a time. A free lane takes the first item whose predecessors have ended. After a failure, no new work starts.
 * The function waits for running work before it throws the error, because the caller then releases the run's lock.
 * @param work receives a lane from 0 to `most` − 1 that no other running work uses
 * @returns the results in the order of the items
 */
export async function inParallel<T, R>(
  most: number, items: readonly T[], work: (item: T, lane: number) => Promise<R>, { after = () => [] }: ParallelOptions<T> = {},
): Promise<R[]> {
  const lanes = Array.from({ length: Math.max(1, most) }, (_, lane) => lane);
  const limit = pLimit(lanes.length);
  const [waiting, unfinished, ready] = [new Set(items), new Set(items), new Set<T>()];
  const results = new Map<T, R>();
  const failures: unknown[] = [];
  const begun: Promise<void>[] = [];
  const runFirst = async (): Promise<void> => {
    const item = items.find((each) => ready.has(each)) as T;
    ready.delete(item);
    if (failures.length > 0) return;
    const lane = lanes.pop() as number;
    try {
      results.set(item, await work(item, lane));
    } catch (error) {
      failures.push(error);
    }
    unfinished.delete(item);
    lanes.push(lane);
    admit();
  };
  const admit = (): void => {
    for (const item of waiting) {
      if (after(item).some((each) => unfinished.has(each))) continue;
      waiting.delete(item);
      ready.add(item);
      begun.push(limit(runFirst));
    }
  };
  admit();
  // `begun` grows while the loop waits, because the end of an item starts other items.
  for (let at = 0; at < begun.length; at += 1) await begun[at];
  if (failures.length > 0) throw failures[0];
  if (waiting.size > 0) throw new Error('items wait for each other in a cycle');
  return items.map((item) => results.get(item) as R);
}

/**
 * Works on items in parallel, at most `most` at a time, and yields the results in the order of the items. After the first `most` items, a new item starts only
 * when the caller requests the next result.
 */
export async function* resultsInOrder<T, R>(
  most: number, items: Iterable<T> | AsyncIterable<T>, work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const working: Promise<R>[] = [];
  for await (const item of items) {
    const begun = work(item);
    // Prevents an unhandled rejection. The `await` below throws the failure.
    begun.catch(() => undefined);
    working.push(begun);
    if (working.length >= most) yield await (working.shift() as Promise<R>);
  }
  for (const begun of working) yield await begun;
}
