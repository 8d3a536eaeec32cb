/** Limits the parallel requests of each caller and of each worker. Serves the waiting callers with the fewest active requests first, in rotation. */

interface QueueOptions {
  /** Maximum number of parallel requests of one caller, across all workers. */
  readonly perCaller: number;
  /** Maximum number of parallel requests in one worker, across all callers. */
  readonly total: number;
  readonly patienceMs: number;
  /** Maximum number of waiting requests of a caller. Absent: unlimited. */
  readonly waiting?: number;
}

/** Releases the slot. A second call has no effect. */
export type Release = () => void;

/**
 * A slot, or the reason why no slot became free. `own`: the caller's other requests used all of the caller's slots or waiting places. `others`: the caller was
 * below its limit, but all slots of the worker were in use.
 */
export type Slot = Release | 'own' | 'others';

/** @returns a slot, or the reason why no slot became free within the maximum waiting time */
export type TakeSlot = (caller: string) => Promise<Slot>;

interface Waiting {
  readonly place: number;
  readonly serve: (release: Release) => void;
}

interface Line {
  working: number;
  readonly waiting: Waiting[];
}

export class FairQueue {
  readonly #options: QueueOptions;
  /** Active and waiting requests by caller. A caller moves to the end when one of its requests gets a slot. */
  readonly #lines = new Map<string, Line>();
  /** Number of active requests by worker. */
  readonly #working = new Map<number, number>();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** @param place number of the worker that does the work. If no request names a worker, the limit `total` applies to the server. */
  async take(caller: string, place = 0): Promise<Slot> {
    const line = this.#lines.get(caller) ?? { working: 0, waiting: [] };
    // The request cannot wait, because the maximum number of requests already waits.
    if (line.waiting.length >= (this.#options.waiting ?? Infinity)) return 'own';
    this.#lines.set(caller, line);
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(served), 1);
        const own = line.working >= this.#options.perCaller;
        this.#forget(caller, line);
        resolve(own ? 'own' : 'others');
      }, this.#options.patienceMs);
      const served: Waiting = {
        place,
        serve(release) {
          clearTimeout(late);
          resolve(release);
        },
      };
      line.waiting.push(served);
      this.#serve(place);
    });
  }

  /**
   * Returns the caller that is served next, and the index of its waiting request. Only callers below their limit with a request for this worker can be served.
   * The caller with the fewest active requests is next. If several callers have the fewest, the first in `#lines` is next.
   */
  #next(place: number): [caller: string, line: Line, at: number] | undefined {
    let next: [string, Line, number] | undefined;
    for (const [caller, line] of this.#lines) {
      if (line.working >= Math.min(this.#options.perCaller, next?.[1].working ?? Infinity)) continue;
      const at = line.waiting.findIndex((each) => each.place === place);
      if (at >= 0) next = [caller, line, at];
    }
    return next;
  }

  #serve(place: number): void {
    while ((this.#working.get(place) ?? 0) < this.#options.total) {
      const next = this.#next(place);
      if (next === undefined) return;
      const [caller, line, at] = next;
      this.#count(line, place, 1);
      this.#lines.delete(caller);
      this.#lines.set(caller, line);
      let given = true;
      for (const { serve } of line.waiting.splice(at, 1)) {
        serve(() => {
          if (!given) return;
          given = false;
          this.#count(line, place, -1);
          this.#forget(caller, line);
          // This worker now has a free slot. The caller is below its limit, so its requests that wait for other workers may start, too.
          for (const free of new Set([place, ...line.waiting.map((each) => each.place)])) this.#serve(free);
        });
      }
    }
  }

  #count(line: Line, place: number, by: 1 | -1): void {
    line.working += by;
    this.#working.set(place, (this.#working.get(place) ?? 0) + by);
  }

  #forget(caller: string, line: Line): void {
    if (line.working === 0 && line.waiting.length === 0) this.#lines.delete(caller);
  }
}
