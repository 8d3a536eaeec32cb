/** Simulates the passing of days. A test publishes now, and moves earlier publications back in time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../pipelines/db/index.ts';

/** Longest time, in ms, that a test may need to check today's publication. */
const NEEDED_MS = 180_000;

/** Moves all publications back by a number of days, at the same local time in Italy. Some days have 23 or 25 hours. */
export async function daysGoBy(database: Database, days: number): Promise<void> {
  await database.query(
    `update ledger.swap set
       happened_at = (happened_at at time zone 'Europe/Rome' - make_interval(days => $1)) at time zone 'Europe/Rome',
       kept_from = (kept_from at time zone 'Europe/Rome' - make_interval(days => $1)) at time zone 'Europe/Rome'`, [days],
  );
}

/** Returns the current date in Italy. */
export async function today(database: Database): Promise<string> {
  return (await database.query<{ day: string }>("select (now() at time zone 'Europe/Rome')::date::text as day"))[0]!.day;
}

/** Waits for midnight in Italy if it is near, so that the following steps happen on one day. */
export async function onOneDay(): Promise<void> {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Rome', hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(new Date());
  const [hours, minutes, seconds] = time.split(':').map(Number) as [number, number, number];
  const left = 86_400_000 - ((hours * 60 + minutes) * 60 + seconds) * 1000;
  if (left < NEEDED_MS) await sleep(left + 1000);
}
