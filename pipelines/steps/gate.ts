/** Step 5b, the quality gate: is what was built plausible, by itself and beside what is published? What is not is refused, with the figures. */
import { join } from 'node:path';
import { inWorkspace, type Place } from '../db/catalog.ts';
import { measure, WHOLE, type Figures, type IdentityFigures, type Measured } from '../db/figures.ts';
import type { Database, Session } from '../db/index.ts';
import { ROOT } from '../config.ts';
import { MappaleError } from '../errors.ts';
import { gateOf, sliceName, type TableGate } from '../gates.ts';
import type { Log } from '../log.ts';
import { readSqlFile, schemaOf, tableOf, type Relation } from '../sql-files.ts';
import { textTable } from '../text-table.ts';
import type { Checked } from './check.ts';
import { brokenIdentity, compare, type Offence } from './gate-rule.ts';
import { figuresOf } from './ledger.ts';
import type { Product } from './products.ts';

/** Who accepts what is refused, and why. */
export interface Acceptance {
  /** `user@host`. */
  readonly who: string;
  readonly why: string;
}

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
 * Measures every watched table that was built and compares it with its published predecessor (`pipelines/gates.ts` says what is watched).
 * @param acceptance the operator's word to publish nevertheless
 * @throws MappaleError `SUSPICIOUS` (exit 5) with section, place, figure before and after; as `data` for machines
 */
export async function gate(database: Database, checked: Checked, subject: string, acceptance: Acceptance | null, log: Log): Promise<Gated> {
  const { joined } = checked;
  const figures = new Map<Relation, readonly Figures[]>();
  const offences = await inWorkspace(database, joined.schema, async (session) => {
    const comuni = await listComuni(session);
    const found: Offence[] = [];
    for (const product of joined.built) {
      const watched = gateOf(product.relation);
      if (watched === null) continue;
      const now: Measured = { table: { schema: joined.schema, table: tableOf(product.relation) }, parcels: joined.unit === 0 ? null : { schema: joined.schema, table: 'parcel' } };
      const was = publishedPlace(joined.unit, product, joined.products);
      const built = await measure(session, watched, now);
      const before = was === null ? null : await publishedFigures(session, product, watched, was);
      found.push(...await compare({
        relation: product.relation, gate: watched, before, after: built, ...comuni,
        among: async (codes) => ({ before: await measure(session, watched, was!, codes), after: await measure(session, watched, now, codes) }),
      }));
      const answers = await runQueries(session, watched);
      found.push(...offencesOfQueries(product.relation, watched, before, answers));
      figures.set(product.relation, [...built, ...answers]);
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
function publishedPlace(unit: number, product: Product, products: readonly Product[]): Measured | null {
  const placeOf = ({ relation, published }: Product): Place | null => {
    if (published === null) return null;
    // Tables of all Italy are swapped whole: while they are published they have the parent's name.
    return { schema: schemaOf(relation), table: unit === 0 ? tableOf(relation) : published };
  };
  const own = placeOf(product);
  const parcels = products.find(({ relation }) => relation === 'core.parcel');
  return own === null ? null : { table: own, parcels: parcels === undefined ? null : placeOf(parcels) };
}

/** As they were measured when it was published; measured now where that was before this was asked. */
async function publishedFigures(session: Session, { relation, published }: Product, watched: TableGate, was: Measured): Promise<readonly Figures[]> {
  const kept = await figuresOf(session, relation, published!);
  const isMeasured = kept.length > 0 && kept.every(({ province, fields }) => province === WHOLE || Object.keys(watched.fields).every((name) => name in fields));
  return isMeasured ? kept : measure(session, watched, was);
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
  const rows = await session.query<{ belfiore: string; name: string; provinceCode: string; provinceName: string }>(
    'select belfiore, name, province_code as "provinceCode", province_name as "provinceName" from core.comune',
  );
  const listed = new Map(rows.map((row) => [row.belfiore, row]));
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
  return [`${offences.length} figures are refused`, ...lines.split('\n'), ...rest].join('\n    ');
}

function numberText(value: number | null): string {
  if (value === null) return 'nothing';
  return Number.isInteger(value) ? value.toLocaleString('en-US') : String(Number(value.toPrecision(4)));
}
