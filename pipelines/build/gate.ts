/** Step 5b, the quality gate: checks whether a build is plausible in itself and compared with the published tables. An implausible build is refused. */
import { join } from 'node:path';
import { atHand } from '../db/at-hand.ts';
import { inWorkspace } from '../db/layers.ts';
import type { Place } from '../db/statements.ts';
import { compareValues, measure, writePlaces, WHOLE, type Figures, type IdentityFigures, type Measured } from '../db/figures.ts';
import type { Database, Session } from '../db/index.ts';
import { ROOT } from '../config.ts';
import { MappaleError } from '../errors.ts';
import { identityName, type TableGate } from '../contract/gate.ts';
import { gateOf } from '../contract/gates.ts';
import type { Log } from '../log.ts';
import { readSqlFile, schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { textTable } from '../text-table.ts';
import { inParallel } from '../parallel.ts';
import { compare, type Comparison, type Violation } from './gate-rule.ts';
import { figuresOf, type Acceptance } from '../ledger/ledger.ts';
import type { Joined } from './join.ts';
import { statementsOf } from '../db/statements.ts';

/** Result of a quality gate that passed, or whose refusal the operator accepted. */
export interface Gated {
  /** Statistics of each table that was built and that the gate checks. */
  readonly figures: ReadonlyMap<Relation, readonly Figures[]>;
  /** Refused statistics that the operator accepted; null if no statistic was refused. */
  readonly accepted: (Acceptance & { readonly figures: readonly Violation[] }) | null;
}

/** Largest number of lines that are printed for one table. */
const SHOWN = 6;

interface GateOptions {
  /** Name of the region in messages. */
  readonly subject: string;
  /** Decision of the operator to publish a refused build. */
  readonly acceptance: Acceptance | null;
  readonly log: Log;
  /** Largest number of tables that are measured at the same time, if the engine allows it. */
  readonly parallel: number;
}

/**
 * Measures every built table that `contract/gates.ts` lists, and compares the statistics with those of the published table. If the published table lacked one
 * of the sources, only the new table is checked, as on a first load.
 * @throws MappaleError `SUSPICIOUS` (exit 5) with section, place and the statistic before and after, as text and in `data` as JSON
 */
export async function gate(database: Database, joined: Joined, { subject, acceptance, log, parallel }: GateOptions): Promise<Gated> {
  const { schema, region, incremental } = joined;
  const [comuni, reached, parcels] = await inWorkspace(database, schema, async (session) => {
    const all = { schema, table: 'parcel' };
    return [
      await listComuni(session),
      incremental === null ? [] : await incremental.comuniReached(session),
      // For a few comuni, measuring is faster if the places of all parcels are not copied first.
      region === 0 ? null : incremental === null ? await writePlaces(session, all) : all,
    ] as const;
  });
  // Tables on other nodes are measured one after another, because each must be copied first.
  const most = joined.nodes === null ? Math.min(parallel, database.parallel) : 1;
  const measured = (await inParallel(most, joined.built, async ({ relation, published, hasNewSource }) => {
    const watched = gateOf(relation);
    if (watched === null) return [];
    return inWorkspace(database, schema, async (session) => {
      const now: Measured = { table: { schema, table: tableOf(relation) }, parcels };
      const isFirst = published === null || hasNewSource;
      const kept = isFirst ? [] : await keptFigures(session, region, relation, watched);
      const was = isFirst ? null : (): Promise<Measured> => measuredWas(session, joined, { schema: schemaOf(relation), table: published });
      const measureWas = async (only?: readonly string[]): Promise<Figures[]> => (was === null ? [] : measure(session, watched, await was(), only));
      const after = [
        ...(kept.length > 0 && incremental?.results.has(relation) === true
          ? await measureReached(session, watched, now, { kept, reached, provinceOf: comuni.provinceOf })
          : await measure(session, watched, now)),
        ...(await runQueries(session, watched)),
      ];
      const violations = await compare({
        relation, gate: watched, before: kept.length > 0 ? kept : await measureWas(), after, ...comuni,
        among: async (only) => ({ before: await measureWas(only), after: await measure(session, watched, now, only) }),
        changes: async (field, only) => (was === null ? [] : compareValues(session, watched, field, { before: await was(), after: now }, only)),
      });
      return [{ relation, figures: after, violations }];
    });
  })).flat();
  const figures = new Map(measured.map((each) => [each.relation, each.figures]));
  const violations = measured.flatMap((each) => each.violations);
  if (violations.length === 0) return { figures, accepted: null };
  const detail = describeViolations(violations);
  if (acceptance !== null) {
    log.warn(`${subject}: published although the quality gate refused (${acceptance.who}: ${acceptance.why}):\n${detail}`);
    return { figures, accepted: { ...acceptance, figures: violations } };
  }
  throw new MappaleError(`${subject}: the new data differs too much from the published data, or has impossible values`, {
    code: 'SUSPICIOUS', kind: 'checks', at: [...new Set(violations.map(({ relation }) => relation))].join(', '), detail, data: violations,
    hint: 'The published data is unchanged. Look at the files. If the change is real, run again with --accept "the reason".',
  });
}

/** Returns the published table and the published parcels, for measuring. */
async function measuredWas(session: Session, joined: Joined, table: Place): Promise<Measured> {
  const parcels = parcelsOf(joined);
  return { table: await atHand(session, joined.schema, table), parcels: parcels === null ? null : await atHand(session, joined.schema, parcels) };
}

/** Returns the published parcels; null if there are none. */
function parcelsOf({ products }: Joined): Place | null {
  const table = products.find(({ relation }) => relation === 'core.parcel')?.published ?? null;
  return table === null ? null : { schema: 'core', table };
}

/** Returns the published table's statistics from the ledger. Returns an empty array if a field with limits was not measured. */
async function keptFigures(session: Session, region: number, relation: Relation, watched: TableGate): Promise<readonly Figures[]> {
  const kept = await figuresOf(session, region, relation);
  const isMeasured = ({ fields, identities }: Figures): boolean =>
    Object.keys(watched.fields).every((name) => name in fields) && (watched.identities ?? []).every((identity) => identityName(identity) in identities);
  return kept.every((each) => each.province === WHOLE || isMeasured(each)) ? kept : [];
}

/** Statistics of the published table, and the comuni whose rows have changed since the publication. */
interface Reached extends Pick<Comparison, 'provinceOf'> {
  readonly kept: readonly Figures[];
  readonly reached: readonly string[];
}

/** Measures a table that contains copied rows. Provinces without changed rows keep the stored statistics. */
async function measureReached(session: Session, watched: TableGate, now: Measured, { kept, reached, provinceOf }: Reached): Promise<Figures[]> {
  const places = kept.filter(({ province }) => province !== WHOLE);
  const moved = places.filter(({ comune, province }) => comune !== '' && provinceOf(comune) !== province);
  const provinces = new Set([...reached.map(provinceOf), ...moved.flatMap(({ comune, province }) => [province, provinceOf(comune)])]);
  const comuni = new Set([...reached, ...places.flatMap(({ comune }) => (comune !== '' && provinces.has(provinceOf(comune)) ? [comune] : []))]);
  return [...places.filter(({ province }) => !provinces.has(province)), ...(await measure(session, watched, now, [...comuni]))];
}

/** Runs the table's gate queries and returns the results as statistics of the whole table. */
async function runQueries(session: Session, { queries = [] }: TableGate): Promise<Figures[]> {
  const answers = new Map<string, Record<string, IdentityFigures>>();
  for (const { file, name } of queries) {
    const rows = await session.query<{ slice: string; known: number; broken: number }>(readSqlFile(join(ROOT, file)).text);
    for (const { slice, known, broken } of rows) answers.set(slice, { ...answers.get(slice), [name]: { known, broken } });
  }
  return [...answers].map(([slice, identities]) => ({ slice, province: WHOLE, comune: '', rows: 0, fields: {}, identities }));
}

/** Reads ISTAT's list of comuni from the published tables. */
async function listComuni(session: Session): Promise<Pick<Comparison, 'provinceOf' | 'nameOf'>> {
  const rows = await session.query<{ belfiore: string; istat_code: string; name: string; province_code: string; province_name: string }>(
    statementsOf('figures')('listed_comuni'),
  );
  // A cadastral code never equals an ISTAT code, because only cadastral codes start with a letter.
  const listed = new Map(rows.flatMap((row) => [[row.belfiore, row], [row.istat_code, row]] as const));
  const provinces = new Map(rows.map((row) => [row.province_code, row.province_name]));
  return {
    provinceOf: (comune) => listed.get(comune)?.province_code ?? '',
    nameOf: (province, comune) => {
      if (comune === WHOLE) return 'all rows';
      if (comune !== null) return `${comune} ${listed.get(comune)?.name ?? ''}`.trimEnd();
      return province === '' ? 'comuni that are not in ISTAT\'s list' : `province ${province} ${provinces.get(province) ?? ''}`;
    },
  };
}

/** Formats a violation: section, table, place, statistic, before → after, limit. */
function describeViolations(violations: readonly Violation[]): string {
  const names = [...new Set(violations.map(({ relation }) => relation))];
  const relations = names.map((name) => ({ name, own: violations.filter(({ relation }) => relation === name) }));
  const lines = textTable(
    relations.flatMap(({ own }) => own.slice(0, SHOWN)).map(({ section, relation, place, figure, before, after, limit }) =>
      [section, relation, place, figure, `${numberText(before)} → ${numberText(after)}`, limit]),
    ['section', 'table', 'place', 'figure', 'before → after', 'limit'],
  );
  const rest = relations.filter(({ own }) => own.length > SHOWN).map(({ name, own }) => `and ${own.length - SHOWN} more of ${name}`);
  return [violations.length === 1 ? '1 statistic is refused' : `${violations.length} statistics are refused`, ...lines.split('\n'), ...rest].join('\n    ');
}

function numberText(value: number | null): string {
  if (value === null) return 'nothing';
  return Number.isInteger(value) ? value.toLocaleString('en-US') : String(Number(value.toPrecision(4)));
}
