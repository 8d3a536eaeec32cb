/** Step 5b, the quality gate: is what was built plausible, by itself and beside what is published? What is not is refused, with the figures. */
import { join } from 'node:path';
import { inWorkspace } from '../db/catalog.ts';
import { measure, WHOLE, type Figures, type IdentityFigures, type Measured } from '../db/figures.ts';
import type { Database, Session } from '../db/index.ts';
import { ROOT } from '../config.ts';
import { MappaleError } from '../errors.ts';
import { identityName, sliceName, type TableGate } from '../contract/gate.ts';
import { gateOf } from '../contract/gates.ts';
import type { Log } from '../log.ts';
import { readSqlFile, schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { textTable } from '../text-table.ts';
import type { Checked } from './check.ts';
import { brokenIdentity, compare, type Offence } from './gate-rule.ts';
import { figuresOf, type Acceptance } from '../ledger/ledger.ts';
import type { Product } from '../plan/products.ts';

/** State 5b: checked, and compared with what is published. */
export interface Gated {
  readonly state: 'gated';
  readonly checked: Checked;
  /** What was measured of each watched table that was built. */
  readonly figures: ReadonlyMap<Relation, readonly Figures[]>;
  /** What was refused and accepted; null: nothing was refused. */
  readonly accepted: (Acceptance & { readonly figures: readonly Offence[] }) | null;
}

/** Lines shown of one table. */
const SHOWN = 6;

/**
 * Measures every watched table that was built and compares it with its published predecessor (`pipelines/gates.ts` has what is watched).
 * @param acceptance the operator's word to publish nevertheless
 * @throws MappaleError `SUSPICIOUS` (exit 5) with section, place, figure before and after; as `data` for machines
 */
export async function gate(database: Database, checked: Checked, subject: string, acceptance: Acceptance | null, log: Log): Promise<Gated> {
  const { joined } = checked;
  const figures = new Map<Relation, readonly Figures[]>();
  const offences = await inWorkspace(database, joined.schema, async (session) => {
    const comuni = await listComuni(session);
    const reached = joined.carrying === null ? [] : await joined.carrying.comuniReached(session);
    const found: Offence[] = [];
    for (const product of joined.built) {
      const { relation } = product;
      const watched = gateOf(relation);
      if (watched === null) continue;
      const now: Measured = { table: { schema: joined.schema, table: tableOf(relation) }, parcels: joined.unit === 0 ? null : { schema: joined.schema, table: 'parcel' } };
      const was = publishedPlace(product, joined.products);
      const kept = was === null ? null : await keptFigures(session, joined.unit, relation, watched);
      const built = kept !== null && joined.carrying?.results.has(relation) === true
        ? await measureReached(session, watched, now, kept, reached, comuni.provinceOf)
        : await measure(session, watched, now);
      const before = was === null ? null : kept ?? (await measure(session, watched, was));
      found.push(...await compare({
        relation, gate: watched, before, after: built, ...comuni,
        among: async (codes) => ({ before: await measure(session, watched, was!, codes), after: await measure(session, watched, now, codes) }),
      }));
      const answers = await runQueries(session, watched);
      found.push(...offencesOfQueries(relation, watched, before, answers));
      figures.set(relation, [...built, ...answers]);
    }
    return found;
  });
  if (offences.length === 0) return { state: 'gated', checked, figures, accepted: null };
  const detail = describeOffences(offences);
  if (acceptance !== null) {
    log.warn(`${subject}: published although the quality gate refused (${acceptance.who}: ${acceptance.why}):\n${detail}`);
    return { state: 'gated', checked, figures, accepted: { ...acceptance, figures: offences } };
  }
  throw new MappaleError(`${subject}: what was built differs suspiciously from what is published, or cannot be`, {
    code: 'SUSPICIOUS', kind: 'checks', at: [...new Set(offences.map(({ relation }) => relation))].join(', '), detail, data: offences,
    hint: 'What is published is untouched. Look at the files; if the change is real, run again with --accept "the reason".',
  });
}

/** @returns null when nothing of it is published */
function publishedPlace({ relation, published }: Product, products: readonly Product[]): Measured | null {
  if (published === null) return null;
  const parcels = products.find((product) => product.relation === 'core.parcel')?.published ?? null;
  return { table: { schema: schemaOf(relation), table: published }, parcels: parcels === null ? null : { schema: 'core', table: parcels } };
}

/** What was measured of the table in force when it was published. @returns null where that was before all of this was asked */
async function keptFigures(session: Session, unit: number, relation: Relation, watched: TableGate): Promise<readonly Figures[] | null> {
  const kept = await figuresOf(session, unit, relation);
  const isMeasured = ({ fields, identities }: Figures): boolean =>
    Object.keys(watched.fields).every((name) => name in fields) && (watched.identities ?? []).every((identity) => identityName(identity) in identities);
  return kept.length > 0 && kept.every((each) => each.province === WHOLE || isMeasured(each)) ? kept : null;
}

/** Of a table whose rows were carried over: provinces in which none can be another one are as they were measured. */
async function measureReached(
  session: Session, watched: TableGate, now: Measured, kept: readonly Figures[], reached: readonly string[], provinceOf: (comune: string) => string,
): Promise<Figures[]> {
  const places = kept.filter(({ province }) => province !== WHOLE);
  const moved = places.filter(({ comune, province }) => comune !== '' && provinceOf(comune) !== province);
  const provinces = new Set([...reached.map(provinceOf), ...moved.flatMap(({ comune, province }) => [province, provinceOf(comune)])]);
  const comuni = new Set([...reached, ...places.flatMap(({ comune }) => (comune !== '' && provinces.has(provinceOf(comune)) ? [comune] : []))]);
  return [...places.filter(({ province }) => !provinces.has(province)), ...(await measure(session, watched, now, [...comuni]))];
}

/** Answers of the table's queries, kept as figures of the table as a whole. */
async function runQueries(session: Session, { queries = [] }: TableGate): Promise<Figures[]> {
  const answers = new Map<string, Record<string, IdentityFigures>>();
  for (const { file, name } of queries) {
    const { text } = readSqlFile(join(ROOT, file));
    for (const { slice, known, broken } of await session.query<{ slice: string; known: number; broken: number }>(text)) answers.set(slice, { ...answers.get(slice), [name]: { known, broken } });
  }
  return [...answers].map(([slice, identities]) => ({ slice, province: WHOLE, comune: '', rows: 0, fields: {}, identities }));
}

function offencesOfQueries(relation: Relation, watched: TableGate, before: readonly Figures[] | null, answers: readonly Figures[]): Offence[] {
  const { section, queries = [] } = watched;
  return answers.flatMap(({ slice, identities }) => queries.flatMap(({ name, most }): Offence[] => {
    const was = before?.find((each) => each.province === WHOLE && each.slice === slice)?.identities[name];
    const now = identities[name];
    return now === undefined ? [] : brokenIdentity(name, most, was ?? { known: 0, broken: 0 }, now).map((finding) => ({ section, relation, place: `all rows, ${sliceName(watched, slice)}`, ...finding }));
  }));
}

/** The list of comuni, as it is published. */
async function listComuni(session: Session): Promise<{ provinceOf(comune: string): string; nameOf(province: string, comune: string | null): string }> {
  const rows = await session.query<{ belfiore: string; istatCode: string; name: string; provinceCode: string; provinceName: string }>(
    'select belfiore, istat_code as "istatCode", name, province_code as "provinceCode", province_name as "provinceName" from core.comune',
  );
  // Letters and digits begin them: no code of one kind is one of the other.
  const listed = new Map(rows.flatMap((row) => [[row.belfiore, row], [row.istatCode, row]] as const));
  const provinces = new Map(rows.map(({ provinceCode, provinceName }) => [provinceCode, provinceName]));
  return {
    provinceOf: (comune) => listed.get(comune)?.provinceCode ?? '',
    nameOf: (province, comune) => {
      if (comune === WHOLE) return 'all rows';
      if (comune !== null) return `${comune} ${listed.get(comune)?.name ?? ''}`.trimEnd();
      return province === '' ? 'comuni that are not listed' : `province ${province} ${provinces.get(province)!}`;
    },
  };
}

/** A table: section, table, place, figure, before → after, limit. */
function describeOffences(offences: readonly Offence[]): string {
  const shown: Offence[] = [];
  const rest: string[] = [];
  for (const relation of new Set(offences.map((offence) => offence.relation))) {
    const own = offences.filter((offence) => offence.relation === relation);
    shown.push(...own.slice(0, SHOWN));
    if (own.length > SHOWN) rest.push(`and ${own.length - SHOWN} more of ${relation}`);
  }
  const lines = textTable(
    shown.map(({ section, relation, place, figure, before, after, limit }) => [section, relation, place, figure, `${numberText(before)} → ${numberText(after)}`, limit]),
    ['section', 'table', 'place', 'figure', 'before → after', 'limit'],
  );
  return [offences.length === 1 ? '1 figure is refused' : `${offences.length} figures are refused`, ...lines.split('\n'), ...rest].join('\n    ');
}

function numberText(value: number | null): string {
  if (value === null) return 'nothing';
  return Number.isInteger(value) ? value.toLocaleString('en-US') : String(Number(value.toPrecision(4)));
}
