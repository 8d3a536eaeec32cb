/**
 * Keeps the counts of requests without a key in memory. While the database is read-only, for example because it is a standby server, requests with a key and
 * bad keys are counted here, too. All workers of a server share the counts.
 */

/** Number of requests or bad keys of a token or network in a fixed period. */
interface Period {
  readonly used: number;
  /** End of the period in milliseconds since 1970. */
  readonly endsAt: number;
}

export interface Counted extends Period {
  /** True if the requests would exceed the limit. Then `used` becomes the limit plus 1 for a single request, and does not change for several requests. */
  readonly over: boolean;
}

/** Arguments of a count. */
export interface Counting {
  /** Token or network. */
  readonly key: string;
  /** Number of requests or bad keys to add. With 0, the count is only read. */
  readonly add: number;
  readonly limit: number;
  readonly periodMs: number;
  /** Count that the database had before it became read-only. Null: the database has no count. */
  readonly before: Period | null;
}

export type Count = (counting: Counting) => Promise<Counted>;

/** Maximum number of counted tokens and networks. Above this number, the least recently used counts are deleted. */
const MOST = 10_000;

/**
 * Creates a counter.
 * @param now returns milliseconds since 1970
 */
export function memoryCount(now: () => number = Date.now): Count {
  const periods = new Map<string, Period>();
  return async ({ key, add, limit, periodMs, before }) => {
    const known = periods.get(key);
    const running = known !== undefined && known.endsAt > now() ? known : before ?? { used: 0, endsAt: now() + periodMs };
    const fits = running.used + add <= limit;
    const period = { used: fits ? running.used + add : add === 1 ? limit + 1 : running.used, endsAt: running.endsAt };
    periods.delete(key);
    if (add > 0 || known !== undefined) periods.set(key, period);
    const [first] = periods.keys();
    if (periods.size > MOST && first !== undefined) periods.delete(first);
    return { ...period, over: !fits };
  };
}
