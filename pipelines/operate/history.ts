/** What was published of one parcel, value by value, as long as it is kept. */
import { regionOfFid } from '../contract/regions.ts';
import { SECTION_NAMES } from '../contract/sections.ts';
import type { Database, Session } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';

const statement = statementsOf('history');

/** A value, and from when until when it was answered. */
export interface PublishedValue {
  /** JSON; without it: there was no record of the parcel. */
  readonly value?: unknown;
  /** Publication of the region by which it came; null: by one of Italy. */
  readonly publication: number | null;
  /** UTC; the first one may have been in force before. */
  readonly since: string;
  /** UTC; null: it is in force. */
  readonly until: string | null;
  /** What the section was made from, with periods; null: nothing was cited. */
  readonly release: string | null;
}

/** What a field was, oldest first: neighbours differ. */
export interface PublishedField {
  readonly section: string;
  /** Path in the block, `purchase.min_eur_m2`; empty: the block is one value. */
  readonly field: string;
  readonly values: readonly PublishedValue[];
}

export interface ParcelHistory {
  readonly fid: number;
  /** UTC: nothing older is kept; null: the region never was published. */
  readonly kept_since: string | null;
  readonly fields: readonly PublishedField[];
}

interface Moment extends Record<string, unknown> {
  readonly unit: number;
  readonly publication: number | null;
  readonly since: string;
  /** The next instant, exact. */
  readonly moment: string;
}

interface PastRecord extends Record<string, unknown> {
  readonly meta: {
    readonly coverage: Readonly<Record<string, string>>;
    readonly licenses: readonly { readonly section: string; readonly source: string; readonly reference_period: string | null }[];
  };
}

/** What a field was at one moment. */
interface Read {
  readonly section: string;
  readonly field: string;
  readonly value?: unknown;
  readonly release: string | null;
}

/** @returns the fid that a reference has or had; null: it never had one */
export async function fidOf(database: Database, reference: string): Promise<number | null> {
  const [found] = await database.query<{ fid: number }>(statement('fid'), [reference]);
  return found?.fid ?? null;
}

export async function parcelHistory(database: Database, fid: number): Promise<ParcelHistory> {
  return database.session((session) => session.transaction(async () => {
    await session.query('select api.hold_publication()');
    const moments = await session.query<Moment>(statement('moments'), [regionOfFid(fid)]);
    const fields = new Map<string, { section: string; field: string; values: PublishedValue[] }>();
    for (const { unit, publication, since, moment } of moments) {
      const read = await readAt(session, fid, moment);
      const found = new Map(read.map((each) => [`${each.section} ${each.field}`, each]));
      for (const key of new Set([...fields.keys(), ...found.keys()])) {
        const now = found.get(key);
        const known = fields.get(key);
        const last = known?.values.at(-1);
        if (known === undefined ? now === undefined : JSON.stringify(last?.value) === JSON.stringify(now?.value)) continue;
        const { section, field, values } = known ?? { section: now?.section ?? '', field: now?.field ?? '', values: [] };
        const ended = last === undefined ? [] : [{ ...last, until: since }];
        const next: PublishedValue = { value: now?.value, publication: unit === 0 ? null : publication, since, until: null, release: now?.release ?? null };
        fields.set(key, { section, field, values: [...values.slice(0, -1), ...ended, next] });
      }
    }
    return { fid, kept_since: moments.at(0)?.since ?? null, fields: [...fields.values()] };
  }));
}

/** All that the record said; nothing where there was none. */
async function readAt(session: Session, fid: number, moment: string): Promise<Read[]> {
  const [found] = await session.query<{ record: string | null }>(statement('record'), [fid, SECTION_NAMES, moment]);
  if (found?.record === undefined || found.record === null) return [];
  const record = JSON.parse(found.record) as PastRecord;
  return SECTION_NAMES.flatMap((section) => {
    const cited = record.meta.licenses.filter((each) => each.section === section).map(({ source, reference_period }) => (reference_period === null ? source : `${source} (${reference_period})`));
    const release = cited.length === 0 ? null : cited.join('; ');
    const coverage = record.meta.coverage[section];
    return [
      ...(coverage === undefined ? [] : [{ section, field: 'coverage', value: coverage, release }]),
      ...valuesOf(record[section], '').map((each) => ({ ...each, section, release })),
    ];
  });
}

/** The values of a block, each with its path. A list is one value. */
function valuesOf(block: unknown, path: string): { field: string; value: unknown }[] {
  if (block === null || typeof block !== 'object' || Array.isArray(block)) return [{ field: path, value: block }];
  return Object.entries(block).flatMap(([name, value]) => valuesOf(value, path === '' ? name : `${path}.${name}`));
}
