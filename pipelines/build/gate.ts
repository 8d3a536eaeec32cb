/**
 * Step 5b of a refresh, the quality gate: checks whether a build is plausible in itself and compared with the published tables. An implausible build is
 * refused.
 */
import { join } from 'node:path';
import { atHand } from '../db/at-hand.ts';
import { countRows } from '../db/ddl.ts';
import { inWorkspace } from '../db/layers.ts';
import type { Place } from '../db/statements.ts';
import {
  changedProvince, compareValues, comuniOfFids, differencesOf, expectPagesInMemory, measure, rowsOfLargestProvince, writePlaces, WHOLE,
  type Figures, type IdentityFigures, type Measured,
} from '../db/figures.ts';
import type { Database, Session } from '../db/index.ts';
import { ROOT } from '../config.ts';
import { firstNames, MappaleError } from '../errors.ts';
import { identityName, type TableGate } from '../contract/gate.ts';
import { gateOf } from '../contract/gates.ts';
import type { Log } from '../log.ts';
import { readSqlFile, schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { textTable } from '../text-table.ts';
import { inParallel } from '../parallel.ts';
import { compare, type Comparison, type Violation } from './gate-rule.ts';
import { figuresOf, type Acceptance } from '../ledger/ledger.ts';
import type { PlacesReached } from './incremental.ts';
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
  /** Decision of the operator to publish a refused build; null if there is none. */
  readonly acceptance: Acceptance | null;
  /** Names of the files that the build uses and the publication does not. */
  readonly newFiles: readonly string[];
  readonly log: Log;
  /** Largest number of tables that are measured at the same time, if the engine allows it. */
  readonly parallel: number;
}

/**
 * Measures every built table that `contract/gates.ts` lists, and compares the statistics with those of the published table. If the published table lacked one
 * of the sources, only the new table is checked, as on a first load.
 * @throws MappaleError `SUSPICIOUS` (exit 5) with section, place and the statistic before and after, as text and in `data` as JSON
 */
export async function gate(database: Database, joined: Joined, { subject, acceptance, newFiles, log, parallel }: GateOptions): Promise<Gated> {
  const { schema, region } = joined;
  const [comuni, parcels] = await inWorkspace(database, schema, async (session) => {
    const queries = joined.built.flatMap((product) => gateOf(product.relation)?.queries ?? []);
    await joined.incremental?.views.provide(session, queries.flatMap(({ file }) => readSqlFile(join(ROOT, file)).reads));
    return [await listComuni(session), await listParcels(session, joined)] as const;
  });
  // Tables on other nodes are measured one after another, because each must be copied first.
  const most = joined.nodes === null ? Math.min(parallel, database.parallel) : 1;
  const measured = (await inParallel(most, joined.built, async ({ relation, published, hasNewSource }) => {
    const watched = gateOf(relation);
    if (watched === null) return [];
    return inWorkspace(database, schema, async (session) => {
      await expectPagesInMemory(session);
      const now: Measured = { table: { schema, table: tableOf(relation) }, parcels: parcels?.all ?? null };
      const isFirst = published === null || hasNewSource;
      const kept = isFirst ? [] : await keptFigures(session, region, relation, watched);
      const was = isFirst ? null : (): Promise<Measured> => measuredWas(session, joined, { schema: schemaOf(relation), table: published });
      const measureWas = async (only: readonly string[] | null = null): Promise<Figures[]> =>
        (was === null ? [] : measure(session, watched, await was(), { only }));
      const measureAll = async (only: readonly string[] | null): Promise<Figures[]> => {
        if (only !== null) log.debug(`  gate: ${relation}: measures ${only.length} comuni again`);
        const rowsOfProvince = parcels !== null && hasWindows(relation, watched) ? await parcels.rowsOfProvince(session, watched, now) : null;
        return measure(session, watched, now, { only, rowsOfProvince });
      };
      const patched = kept.length === 0 ? null : await patchedOf(session, joined, parcels, relation);
      const after = [
        ...(patched === null ? await measureAll(null) : await measureReached(session, watched, patched, { kept, provinceOf: comuni.provinceOf, measureAll })),
        ...(await runQueries(session, watched)),
      ];
      const violations = await compare({
        relation, gate: watched, before: kept.length > 0 ? kept : await measureWas(), after, ...comuni,
        among: async (only) => ({ before: await measureWas(only), after: await measure(session, watched, now, { only }) }),
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
    hint: `The published data is unchanged. ${filesToCheck(newFiles)} If the change is real, run again with --accept "the reason".`,
  });
}

/** Returns the sentence of the hint that names the files to check. */
function filesToCheck(newFiles: readonly string[]): string {
  if (newFiles.length === 0) return 'Check the files.';
  return `Check the new ${newFiles.length === 1 ? 'file' : 'files'}: ${firstNames(newFiles)}.`;
}

/** The parcels of a region, with which the gate finds the comune of a row. */
interface Parcels {
  /** All parcels. */
  readonly all: Place;
  /** Parcels of the comuni with changed rows. Null if all tables were built completely. */
  readonly reached: PlacesReached | null;
  /** Returns the largest number of rows that a province has in one slice of a table. */
  readonly rowsOfProvince: (session: Session, watched: TableGate, table: Measured) => Promise<number>;
}

/** Number of parcels in a region and in its largest province. */
interface ParcelCounts {
  readonly all: number;
  readonly largest: number;
}

/** Lists the parcels of a region and their comuni. Returns null for the tables of Italy, which have no parcels. */
async function listParcels(session: Session, joined: Joined): Promise<Parcels | null> {
  const { schema, region, incremental } = joined;
  if (region === 0) return null;
  const built = { schema, table: 'parcel' };
  const patchedRows = new Map([...incremental?.results ?? []].map(([relation, { rows }]) => [tableOf(relation), rows]));
  const rowsOf = async (of: Session, table: string): Promise<number> => patchedRows.get(table) ?? countRows(of, schema, table);
  const countParcels = async (of: Session): Promise<ParcelCounts> => (
    { all: await rowsOf(of, built.table), largest: await rowsOfLargestProvince(of, PLACES, { table: built, parcels: null }) }
  );
  let counted: Promise<ParcelCounts> | undefined;
  const rowsOfProvince = async (of: Session, watched: TableGate, measured: Measured): Promise<number> => {
    const { all, largest } = await (counted ??= countParcels(of));
    const { table } = measured.table;
    const hasOneRowPerParcel = watched.slice === undefined && (await rowsOf(of, table)) <= all;
    return hasOneRowPerParcel ? largest : rowsOfLargestProvince(of, watched, measured);
  };
  if (incremental === null) {
    const all = { schema, table: 'parcel_place' };
    await writePlaces(session, all, built);
    return { all, reached: null, rowsOfProvince };
  }
  // For few comuni, measuring is faster without a copy of all parcels.
  return { all: built, reached: await incremental.placesReached(session), rowsOfProvince };
}

/** A gate without fields, to count parcels by province. */
const PLACES: TableGate = { section: 'basic', by: 'belfiore', fields: {}, excused: {} };

/**
 * Returns whether the windows around the quantiles of a table are stored. Tables whose rows do not belong to parcels are small, and are always measured
 * completely.
 */
function hasWindows(relation: Relation, { by }: TableGate): boolean {
  return by === 'fid' || relation === 'core.parcel';
}

/** Rows of a patched table. */
interface PatchedTable {
  /** Rows of all comuni with changed rows in any table. */
  readonly now: Measured;
  /** Published rows that the new rows replace. */
  readonly gone: Measured;
  /** New rows. */
  readonly came: Measured;
  /** Comuni whose rows changed. */
  readonly comuni: readonly string[];
}

/** Returns the changed rows of a table; null if the table was built completely. */
async function patchedOf(session: Session, { incremental, products }: Joined, parcels: Parcels | null, relation: Relation): Promise<PatchedTable | null> {
  const patch = incremental?.results.get(relation)?.patch ?? null;
  const published = products.find((product) => product.relation === relation)?.published ?? null;
  if (parcels?.reached == null || patch === null || published === null) return null;
  const { before, after, of } = parcels.reached;
  const comuni = await comuniOfFids(session, of, patch.fids);
  return {
    now: { table: { schema: schemaOf(relation), table: published }, parcels: after, patch },
    gone: { table: patch.gone, parcels: before }, came: { table: patch.came, parcels: after }, comuni,
  };
}

/** Returns the published table and the published parcels, for `measure`. Copies tables that are on other nodes. */
async function measuredWas(session: Session, joined: Joined, table: Place): Promise<Measured> {
  const parcels = parcelsOf(joined);
  return { table: await atHand(session, joined.schema, table), parcels: parcels === null ? null : await atHand(session, joined.schema, parcels) };
}

/** Returns the published parcels; null if there are none. */
function parcelsOf({ products }: Joined): Place | null {
  const table = products.find(({ relation }) => relation === 'core.parcel')?.published ?? null;
  return table === null ? null : { schema: 'core', table };
}

/** Returns the published table's statistics from the ledger. Returns an empty array if a checked field or identity was not measured. */
async function keptFigures(session: Session, region: number, relation: Relation, watched: TableGate): Promise<readonly Figures[]> {
  const kept = await figuresOf(session, region, relation);
  const isMeasured = ({ fields, identities }: Figures): boolean =>
    Object.keys(watched.fields).every((name) => name in fields) && (watched.identities ?? []).every((identity) => identityName(identity) in identities);
  return kept.every((each) => each.province === WHOLE || isMeasured(each)) ? kept : [];
}

/** Statistics of the published table, and a function that measures the provinces whose statistics cannot be computed from the stored statistics. */
interface Kept extends Pick<Comparison, 'provinceOf'> {
  readonly kept: readonly Figures[];
  readonly measureAll: (comuni: readonly string[]) => Promise<Figures[]>;
}

/**
 * Measures the comuni with changed rows. Other comuni keep their statistics. The statistics of a province are computed from its comuni and from the changed
 * values. A province is measured again if a comune moved to a different province, or if a new quantile is outside its stored window.
 */
async function measureReached(
  session: Session, watched: TableGate, { now, gone, came, comuni }: PatchedTable, { kept, provinceOf, measureAll }: Kept,
): Promise<Figures[]> {
  const places = kept.filter(({ province }) => province !== WHOLE);
  const reached = new Set(comuni);
  const unchanged = places.filter(({ comune }) => comune !== '' && !reached.has(comune));
  const measured = await measure(session, watched, now, { only: comuni, places: 'comuni_only' });
  const moved = places.filter(({ comune, province }) => comune !== '' && provinceOf(comune) !== province);
  const again = new Set(moved.flatMap(({ comune, province }) => [province, provinceOf(comune)]));
  const differences = await differencesOf(session, watched, { before: gone, after: came });
  const changed = new Set(comuni.map(provinceOf));
  const all = [...unchanged, ...measured];
  const provinces = new Map(places.filter(({ comune, province }) => comune === '' && !changed.has(province)).map((each) => [keyOf(each), each]));
  for (const each of all.filter(({ comune }) => changed.has(provinceOf(comune)))) {
    const { slice, province } = each;
    if (provinces.has(keyOf(each)) || again.has(province)) continue;
    const isHere = (other: Pick<Figures, 'slice' | 'province'>): boolean => other.slice === slice && other.province === province;
    const was = places.find((other) => other.comune === '' && isHere(other)) ?? null;
    const found = changedProvince(watched, was, { comuni: all.filter(isHere), differences: differences.filter(isHere) });
    if (found === null) again.add(province);
    else provinces.set(keyOf(each), found);
  }
  const isKept = ({ comune, province }: Figures): boolean => !again.has(province) && !again.has(provinceOf(comune));
  const rest = again.size === 0 ? [] : await measureAll(all.flatMap(({ comune }) => (again.has(provinceOf(comune)) ? [comune] : [])));
  return [...[...all, ...provinces.values()].filter(isKept), ...rest];
}

function keyOf({ slice, province }: Figures): string {
  return JSON.stringify([slice, province]);
}

/** Runs the table's gate queries and returns the results as statistics of the whole table. */
async function runQueries(session: Session, { queries = [] }: TableGate): Promise<Figures[]> {
  const answers = new Map<string, Record<string, IdentityFigures>>();
  for (const { file, name } of queries) {
    const rows = await session.query<{ slice: string; known: number; broken: number }>(readSqlFile(join(ROOT, file)).text);
    for (const { slice, known, broken } of rows) answers.set(slice, { ...answers.get(slice), [name]: { known, broken } });
  }
  return [...answers].map(([slice, identities]) => ({ slice, province: WHOLE, comune: '', rows: 0, fields: {}, identities, windows: null }));
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

/** Formats violations as a text table: section, table, place, statistic, before → after, limit. Shows at most six violations of each table. */
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
