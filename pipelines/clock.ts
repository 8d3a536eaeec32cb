/**
 * Provides the clock of the program. Other modules of `pipelines` read the system's clock only for the age of lock files and for a timeout in `db/pooler.ts`.
 * Durations are measured with `performance.now`.
 */
import { testClock } from './config.ts';

export interface Clock {
  now(): number;
  /** @param seconds time to wait */
  wait(seconds: number): Promise<void>;
}

const SYSTEM: Clock = { now: Date.now, wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)) };

/** Returns a clock that starts at a given time. A call to `wait` advances this clock and returns at once. @param start milliseconds since 1970 */
function clockFrom(start: number): Clock {
  const begun = performance.now();
  let waited = 0;
  return {
    now: () => Math.round(start + waited + performance.now() - begun),
    wait: async (seconds) => void (waited += seconds * 1000),
  };
}

let chosen: Clock | null = null;

/**
 * Returns the clock of this process. Reads the setting `MAPPALE_TEST_CLOCK` at the first use, so that an invalid value is reported like other invalid settings.
 */
function clock(): Clock {
  const start = chosen === null ? testClock() : null;
  chosen ??= start === null ? SYSTEM : clockFrom(start);
  return chosen;
}

export const CLOCK: Clock = { now: () => clock().now(), wait: (seconds) => clock().wait(seconds) };
