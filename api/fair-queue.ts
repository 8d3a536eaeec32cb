/** Whose turn it is: a caller's requests are worked on a few at a time, and callers who wait are served one after the other. */

export interface QueueOptions {
  /** Requests of one caller that are worked on at the same time, wherever. */
  readonly perCaller: number;
  /** Requests of all callers that are worked on at the same time in one place. */
  readonly total: number;
  readonly patienceMs: number;
  /** Most requests of a caller that wait; not given: any number. */
  readonly waiting?: number;
}

/** Gives the turn back; a second call does nothing. */
export type Release = () => void;

/** A turn; `own`: others of the caller's own took too long; `others`: those of others did. */
export type Slot = Release | 'own' | 'others';

/** @returns when it is this caller's turn, or has waited too long */
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
  /** Of callers who work or wait; who was served last stands last. */
  readonly #lines = new Map<string, Line>();
  /** Requests that are worked on, by place. */
  readonly #working = new Map<number, number>();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** @param place where the work will be done: a worker's number */
  async take(caller: string, place = 0): Promise<Slot> {
    const line = this.#lines.get(caller) ?? { working: 0, waiting: [] };
    // A free place is taken at once: whoever waits longer than this waits for one.
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

  /** Who has least in work comes first, of those the one who was served longest ago. */
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
          // There is room in this place for anybody, and for this caller in all.
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
