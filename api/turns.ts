/** Whose turn it is: a caller's requests are worked on a few at a time, and callers who wait are served one after the other. */

export interface TurnOptions {
  /** Requests of one caller that are worked on at the same time. */
  readonly perCaller: number;
  /** Requests of all callers that are worked on at the same time. */
  readonly total: number;
  readonly patienceMs: number;
}

/** Gives the turn back; a second call does nothing. */
export type Release = () => void;

interface Line {
  working: number;
  readonly waiting: ((release: Release) => void)[];
}

export class Turns {
  readonly #options: TurnOptions;
  /** Of callers who work or wait; who was served last stands last. */
  readonly #lines = new Map<string, Line>();
  #working = 0;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** @returns when it is this caller's turn; `own`: others of its own took too long; `others`: those of others did */
  async take(caller: string): Promise<Release | 'own' | 'others'> {
    const line = this.#lines.get(caller) ?? { working: 0, waiting: [] };
    this.#lines.set(caller, line);
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(served), 1);
        const own = line.working >= this.#options.perCaller;
        this.#forget(caller, line);
        resolve(own ? 'own' : 'others');
      }, this.#options.patienceMs);
      const served = (release: Release): void => {
        clearTimeout(late);
        resolve(release);
      };
      line.waiting.push(served);
      this.#serve();
    });
  }

  /** Who has least in work comes first, of those the one who was served longest ago. */
  #next(): [string, Line] | undefined {
    let next: [string, Line] | undefined;
    for (const each of this.#lines) {
      const [, { working, waiting }] = each;
      if (waiting.length > 0 && working < Math.min(this.#options.perCaller, next?.[1].working ?? Infinity)) next = each;
    }
    return next;
  }

  #serve(): void {
    while (this.#working < this.#options.total) {
      const next = this.#next();
      if (next === undefined) return;
      const [caller, line] = next;
      line.working += 1;
      this.#working += 1;
      this.#lines.delete(caller);
      this.#lines.set(caller, line);
      let given = true;
      line.waiting.shift()?.(() => {
        if (!given) return;
        given = false;
        line.working -= 1;
        this.#working -= 1;
        this.#forget(caller, line);
        this.#serve();
      });
    }
  }

  #forget(caller: string, line: Line): void {
    if (line.working === 0 && line.waiting.length === 0) this.#lines.delete(caller);
  }
}
