/** Reads the history of one parcel: all published values in the kept history. */
import { findRegion, REGIONS, regionOfFid, spellingsOf } from '../contract/regions.ts';
import { SECTION_NAMES } from '../contract/sections.ts';
import type { Database, Session } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { notPublished } from '../ledger/published.ts';

const statement = statementsOf('history');

/** A value and the period in which the value was published. */
export interface PublishedValue {
  /** JSON value; absent if the section did not have the field. */
  readonly value?: unknown;
  /** Publication of the region that introduced the value. Null if a publication of the national tables introduced the value. */
  readonly publication: number | null;
  /** Start of the period in UTC. The first value may be older than the kept history. */
  readonly since: string;
  /** End of the period in UTC; null if the value is current. The next value may start later, if no value was served for some time. */
  readonly until: string | null;
  /** Sources and reference periods of the section; null if the section cited no source. */
  readonly release: string | null;
}

/** Values of a field, oldest first. Two successive values differ, or no value was served between the two. */
interface PublishedField {
  readonly section: string;
  /** Path of the field in the section, such as `purchase.min_eur_m2`; empty if the section is a single value. */
  readonly field: string;
  readonly values: readonly PublishedValue[];
}

/** A period in which the parcel had no published record. */
export interface Absence {
  /** Reason: the parcel was not yet published (`not_there`), was no longer published (`gone`), or was in a withdrawn region (`withdrawn`). */
  readonly why: 'not_there' | 'gone' | 'withdrawn';
  /** Current parcel with the same geometry as the parcel that no longer exists; null if no parcel or several parcels have this geometry. */
  readonly successor_fid: number | null;
  /** Start of the period in UTC. */
  readonly since: string;
  /** End of the period in UTC; null if the parcel still has no published record. */
  readonly until: string | null;
}

export interface ParcelHistory {
  readonly fid: number;
  /** Other fids that the parcel's cadastral references have or had, in any region. */
  readonly other_fids: readonly number[];
  /** False if the database is distributed. A distributed database stores only current values. */
  readonly keeps_history: boolean;
  /** Start of the kept history in UTC. Null if neither the region nor the national tables were ever published. */
  readonly kept_since: string | null;
  readonly absences: readonly Absence[];
  readonly fields: readonly PublishedField[];
}

interface Moment extends Record<string, unknown> {
  readonly region: number;
  readonly publication: number | null;
  readonly since: string;
  /** Time of the publication with the database's full precision. */
  readonly moment: string;
}

interface PastRecord extends Record<string, unknown> {
  readonly meta: {
    readonly coverage: Readonly<Record<string, string>>;
    readonly licenses: readonly { readonly section: string; readonly source: string; readonly reference_period: string | null }[];
  };
}

/** Value of a field in one record. */
interface Read {
  readonly section: string;
  readonly field: string;
  readonly value?: unknown;
  readonly release: string | null;
}

const CODES = REGIONS.map(({ code }) => code);
const REGISTERED = { registered: { sql: statement('registered') } };

/** Returns the current or former fid of a reference; null if the reference never had a fid. */
export async function fidOf(database: Database, reference: string): Promise<number | null> {
  const [found] = await database.query<{ fid: number }>(statement('fid', REGISTERED), [spellingsOf(reference), CODES]);
  return found?.fid ?? null;
}

/** Returns the history of a parcel. @throws MappaleError `NOT_PUBLISHED` (exit 2) if the region is withdrawn */
export async function parcelHistory(database: Database, fid: number): Promise<ParcelHistory> {
  return database.session((session) => session.transaction(async () => {
    await session.query('select api.hold_publication()');
    const region = regionOfFid(fid);
    const moments = await session.query<Moment>(statement('moments'), [region]);
    const last = moments.findLast((each) => each.region === region);
    // The history of a withdrawn region is not shown at all.
    if (last?.publication === null) throw await notPublished(session, region);
    const times = new Times();
    let isWithdrawn = false;
    for (const moment of moments) {
      if (moment.region === region) isWithdrawn = moment.publication === null;
      times.add(moment, { ...await readAt(session, fid, moment.moment), isWithdrawn });
    }
    const [keeping] = await session.query<{ keeps: boolean }>(statement('keeps_history'));
    return {
      fid, other_fids: findRegion(region) === undefined ? [] : await othersOf(session, fid), keeps_history: keeping?.keeps ?? true,
      kept_since: moments.at(0)?.since ?? null, absences: times.absences, fields: [...times.fields.values()],
    };
  }));
}

async function othersOf(session: Session, fid: number): Promise<number[]> {
  const references = await session.query<{ reference: string }>(statement('references_of'), [fid]);
  const found = await session.query<{ fid: number }>(statement('other_fids', REGISTERED), [references.map(({ reference }) => reference), CODES, fid]);
  return found.map((each) => each.fid);
}

/** Collects the values and absences of a parcel from the parcel's records, which the caller adds from the oldest to the newest. */
class Times {
  readonly absences: Absence[] = [];
  readonly fields = new Map<string, { section: string; field: string; values: PublishedValue[] }>();

  add({ region, publication, since }: Moment, { values, retired, isWithdrawn }: Answer & { readonly isWithdrawn: boolean }): void {
    const absence = this.absences.at(-1);
    const was = absence?.until === null ? absence : null;
    if (values === null) {
      const why = retired !== null ? 'gone' : isWithdrawn ? 'withdrawn' : 'not_there';
      const begins = was !== null && was.why === why ? was.since : since;
      if (was !== null) this.absences.splice(-1, 1, ...(was.why === why ? [] : [{ ...was, until: since }]));
      this.absences.push({ why, successor_fid: retired?.successor_fid ?? null, since: begins, until: null });
      for (const each of this.fields.values()) end(each.values, since);
      return;
    }
    if (was !== null) this.absences.splice(-1, 1, { ...was, until: since });
    const found = new Map(values.map((each) => [`${each.section} ${each.field}`, each]));
    for (const key of new Set([...this.fields.keys(), ...found.keys()])) {
      const now = found.get(key);
      const known = this.fields.get(key);
      const last = known?.values.at(-1);
      const isUnchanged = last?.until === null ? JSON.stringify(last.value) === JSON.stringify(now?.value) : now === undefined;
      if (isUnchanged) continue;
      const { section, field, values: before } = known ?? { section: now?.section ?? '', field: now?.field ?? '', values: [] };
      end(before, since);
      before.push({ value: now?.value, publication: region === 0 ? null : publication, since, until: null, release: now?.release ?? null });
      this.fields.set(key, { section, field, values: before });
    }
  }
}

/** Sets the end of the last value's period, if the value is current. */
function end(values: PublishedValue[], until: string): void {
  const last = values.at(-1);
  if (last?.until === null) values.splice(-1, 1, { ...last, until });
}

interface Answer {
  /** All values of the record; null if the parcel had no record. */
  readonly values: readonly Read[] | null;
  readonly retired: { readonly successor_fid: number | null } | null;
}

async function readAt(session: Session, fid: number, moment: string): Promise<Answer> {
  const [found] = await session.query<{ record: string | null; retired: Answer['retired'] }>(statement('record'), [fid, SECTION_NAMES, moment]);
  const { record: text = null, retired = null } = found ?? {};
  if (text === null) return { values: null, retired };
  const record = JSON.parse(text) as PastRecord;
  const values = SECTION_NAMES.flatMap((section) => {
    const cited = record.meta.licenses.filter((each) => each.section === section).map(({ source, reference_period }) => (reference_period === null ? source : `${source} (${reference_period})`));
    const release = cited.length === 0 ? null : cited.join('; ');
    const coverage = record.meta.coverage[section];
    return [
      ...(coverage === undefined ? [] : [{ section, field: 'coverage', value: coverage, release }]),
      ...valuesOf(record[section], '').map((each) => ({ ...each, section, release })),
    ];
  });
  return { values, retired };
}

/** Returns each value of a section with the path of the field. A list is one value. */
function valuesOf(block: unknown, path: string): { field: string; value: unknown }[] {
  if (block === null || typeof block !== 'object' || Array.isArray(block)) return [{ field: path, value: block }];
  return Object.entries(block).flatMap(([name, value]) => valuesOf(value, path === '' ? name : `${path}.${name}`));
}
