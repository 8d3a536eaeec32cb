/** Counts of requests and bad keys in memory, for a database that takes no rows: a standby, or one that is read-only. All workers of a server share them. */

/** A fixed period of one caller. */
export interface Period {
  readonly used: number;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

export interface Counted extends Period {
  /** More than the limit: nothing was added. */
  readonly over: boolean;
}

/** What is counted, and how far. */
export interface Counting {
  /** A token or a network. */
  readonly key: string;
  /** 0: only look. */
  readonly add: number;
  readonly limit: number;
  readonly periodMs: number;
  /** What the database counted before it turned read-only; null: nothing. */
  readonly before: Period | null;
}

export type Count = (counting: Counting) => Promise<Counted>;

/** Callers that are remembered; beyond, those that came first are forgotten. */
const MOST = 10_000;

/**
 * Returns a count of its own.
 * @param now milliseconds since 1970
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
