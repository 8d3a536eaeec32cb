/** Days that go by: a test that tells of the past publishes now, and puts what happened back. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../pipelines/db/index.ts';

/** Longest that a test may need to tell of what it published today. */
const NEEDED_MS = 180_000;

/** What was published so far was so many days earlier, at the same time by the clocks of Italy: there, days have 23 hours or 25, too. */
export async function daysGoBy(database: Database, days: number): Promise<void> {
  await database.query(
    `update ledger.swap set
       happened_at = (happened_at at time zone 'Europe/Rome' - make_interval(days => $1)) at time zone 'Europe/Rome',
       kept_from = (kept_from at time zone 'Europe/Rome' - make_interval(days => $1)) at time zone 'Europe/Rome'`, [days],
  );
}

/** The day that it is in Italy. */
export async function today(database: Database): Promise<string> {
  return (await database.query<{ day: string }>("select (now() at time zone 'Europe/Rome')::date::text as day"))[0]!.day;
}

/** Shortly before midnight in Italy, waits for it: what follows happens on one day. */
export async function onOneDay(): Promise<void> {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Rome', hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(new Date());
  const [hours, minutes, seconds] = time.split(':').map(Number) as [number, number, number];
  const left = 86_400_000 - ((hours * 60 + minutes) * 60 + seconds) * 1000;
  if (left < NEEDED_MS) await sleep(left + 1000);
}
