/** Collects the facts about a region's publication from the ledger and the quality gate, for the HTML and JSON report. */
import type { Checked } from '../build/check.ts';
import type { Violation } from '../build/gate-rule.ts';
import { GATES } from '../contract/gates.ts';
import type { Region } from '../contract/regions.ts';
import { readChecks, readSectionFiles, type Relation } from '../contract/sql-files.ts';
import type { Warning } from '../db/checks.ts';
import { isDistributed } from '../db/distributed.ts';
import { WHOLE, type FieldFigures } from '../db/figures.ts';
import { one } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { holds, type Hold } from '../ledger/hold.ts';
import { schemaWarnings, withoutSamples, type FileWarning } from '../ledger/ledger.ts';
import { mustBePublished } from '../ledger/published.ts';
import type { Context } from '../run/context.ts';
import { countFindings, type AddressRegister } from './findings.ts';

const report = statementsOf('report');

export interface Publication {
  /** Region code, or 0 for the national lists of names. */
  readonly unit: number;
  readonly publication: number;
  readonly state: 'current' | 'previous';
  /** Time of the publication in UTC. */
  readonly published_at: string;
  readonly digest: string | null;
  /** Reason and user of `--accept`, for a publication that the quality gate had refused; null if the gate did not refuse the publication. */
  readonly reason: string | null;
  readonly accepted: { readonly who: string; readonly at: string; readonly figures: readonly Violation[] } | null;
  readonly run: number;
  readonly command: string;
  readonly version: string;
}

export interface ReportedFile {
  readonly name: string;
  readonly role: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly vintage: string;
  readonly dated: string | null;
  readonly in_data_folders: boolean;
}

/** Counts of a release from the ledger, and the same counts from the release's members, rejects and duplicates. */
export interface ReportedRelease {
  readonly release: number;
  readonly source: string;
  readonly vintage: string;
  readonly files: readonly ReportedFile[];
  readonly records: number;
  readonly rows: number;
  readonly rejects: number;
  readonly duplicates: number;
  readonly member_records: number;
  readonly member_rows: number;
  readonly kept_rejects: number;
  readonly kept_duplicates: number;
  /** Members whose number of records differs from rows + rejects + duplicates. */
  readonly broken_members: readonly string[];
  /** Seconds between the creation of the release in the ledger and the end of the load. */
  readonly seconds: number | null;
  /** True if records = rows + rejects + duplicates, and the counts in the ledger equal the counts of members, rejects and duplicates. */
  readonly holds: boolean;
  /** Warnings of the checks that ran when the release was loaded; null if the ledger has no record of these checks. */
  readonly warnings: readonly Warning[] | null;
}

interface ReportedTable {
  readonly unit: number;
  readonly relation: Relation;
  readonly partition: string;
  readonly rows: number;
  /** Size of the table with indexes in bytes; null if the table is not on this node. */
  readonly bytes: number | null;
  readonly rows_before: number | null;
  /** True if the table is unchanged since the previous publication. */
  readonly stands: boolean;
  /** Build time in seconds; null if the table is unchanged or copied, is a table of Italy (unit 0), or was built by an older version of the program. */
  readonly seconds: number | null;
}

/**
 * States of coverage.
 *
 * - `mapped`: the files cover the place and have objects there.
 * - `none`: the files cover the place and have no objects there.
 * - `partial`: the files cover only some places, or only some of the maps cover the comune.
 * - `not_mapped`: the loaded files do not cover the place.
 * - `not_loaded`: no file is loaded.
 * - `not_applicable`: the section applies to no examined parcel.
 */
export const COVERAGE_STATES = ['mapped', 'none', 'partial', 'not_mapped', 'not_loaded', 'not_applicable'] as const;

export type CoverageState = (typeof COVERAGE_STATES)[number];

export interface SectionCoverage {
  readonly section: string;
  /** Name of the map if the section has a separate coverage for each map; otherwise null. */
  readonly map: string | null;
  readonly state: CoverageState;
  /** Number of the section's rows in the comune, or of values from the map; null if not counted. */
  readonly rows: number | null;
  /** Number of examined parcels by state of coverage. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface ComuneCoverage {
  readonly belfiore: string;
  readonly name: string | null;
  readonly province_code: string;
  readonly province_name: string | null;
  /** Number of examined land parcels; 0 if the comune has no land parcels. */
  readonly parcels_asked: number;
  readonly sections: readonly SectionCoverage[];
}

export interface Moment {
  readonly rows: number;
  readonly values: number;
  readonly median: number | null;
  readonly p95: number | null;
  /** Medians of the field in the comuni, ascending; empty if the field has no medians. */
  readonly medians: readonly number[];
}

/** Statistics of a field in one province and slice, now and in the previous publication. */
export interface Distribution {
  readonly section: string;
  readonly relation: Relation;
  readonly slice: string;
  readonly province: string;
  readonly field: string;
  readonly now: Moment | null;
  /** Statistics of the previous publication; null if the previous publication has no statistics of this field and slice. */
  readonly before: Moment | null;
}

export interface ReportedRejects {
  readonly source: string;
  readonly code: string;
  readonly records: number;
  readonly examples: readonly { readonly file: string; readonly member: string | null; readonly position: number; readonly message: string }[];
}

export interface ReportedLicense {
  readonly source: string;
  readonly source_id: string;
  readonly sections: readonly string[] | null;
  readonly holder: string;
  readonly license: string;
  readonly url: string;
  readonly reference_period: string | null;
  readonly attribution: string;
}

interface ReportedStep {
  readonly step: string;
  readonly subject: string;
  readonly seconds: number | null;
}

export interface RegionReport {
  readonly region: Pick<Region, 'code' | 'name'>;
  readonly publications: readonly Publication[];
  readonly held: Hold | null;
  readonly releases: readonly ReportedRelease[];
  readonly coverage: readonly ComuneCoverage[];
  /** Findings about the addresses of each comune. */
  readonly address_registers: readonly (AddressRegister & Pick<ComuneCoverage, 'belfiore' | 'name'>)[];
  readonly distributions: readonly Distribution[];
  readonly rejects: readonly ReportedRejects[];
  readonly checks: {
    /** Checks with the expectation of each check. `asked`: whether the check ran for this publication, or null if not recorded. */
    readonly all: readonly { readonly name: string; readonly level: string; readonly expects: string; readonly asked: boolean | null; readonly rows: number }[];
  };
  /** Columns that publishers added to files of the region and of Italy. The report has no sample values, because users may send the report to other people. */
  readonly added_columns: readonly FileWarning[];
  /** Files of the region and of Italy that may be incomplete exports of a web service. */
  readonly cut_exports: readonly FileWarning[];
  readonly steps: readonly ReportedStep[];
  readonly tables: readonly ReportedTable[];
  readonly licenses: readonly ReportedLicense[];
}

/** Outline of a comune in longitude and latitude, simplified for a small map. */
export interface Outline {
  readonly belfiore: string;
  readonly geometry: { readonly coordinates: readonly (readonly (readonly (readonly [number, number])[])[])[] } | null;
}

/** @throws MappaleError `NOT_PUBLISHED` (exit 2) */
export async function readRegionReport({ database, log }: Context, region: Region): Promise<RegionReport> {
  const { code, name } = region;
  await mustBePublished(database, region);
  const publications = await database.query<Publication & Record<string, unknown>>(report('publications'), [code]);
  const steps = await database.query<ReportedStep & { detail: StepDetail | null } & Record<string, unknown>>(report('steps'), [code, name]);
  const took = Object.assign({}, ...steps.map(({ detail }) => detail?.seconds ?? {})) as Readonly<Record<string, number>>;
  const size = { sql: report((await isDistributed(database)) ? 'size_on_nodes' : 'size') };
  const tables = await database.query<Omit<ReportedTable, 'seconds'> & Record<string, unknown>>(report('tables', { size }), [code]);
  const warnings = withoutSamples((await schemaWarnings(database)).filter(({ units }) => units.includes(0) || units.includes(code)));
  const coverage = await readCoverage({ database, log }, code);
  log.progress('addresses of comuni');
  const registerOf = await countFindings(database, code, coverage.map(({ belfiore }) => belfiore));
  return {
    region: { code, name },
    publications,
    held: (await holds(database)).get(code) ?? null,
    releases: await readReleases(database, code),
    coverage,
    address_registers: coverage.map(({ belfiore, name: comune }) => ({ belfiore, name: comune, ...registerOf(belfiore) })),
    distributions: await readDistributions(database, code),
    rejects: await database.query<ReportedRejects & Record<string, unknown>>(report('rejects'), [code]),
    checks: checksOf(steps.find(({ step }) => step === 'check')?.detail ?? null),
    added_columns: warnings.filter((warning) => warning.code === 'COLUMNS_ADDED'),
    cut_exports: warnings.filter((warning) => warning.code === 'EXPORT_MAY_BE_CUT'),
    steps: steps.map(({ step, subject, seconds }) => ({ step, subject, seconds })),
    tables: tables.map((table) => ({ ...table, seconds: table.unit === code && !table.stands ? took[table.relation] ?? null : null })),
    licenses: await database.query<ReportedLicense & Record<string, unknown>>(report('licenses'), [code]),
  };
}

/** Returns the outlines of the comuni of a region; empty if no boundaries are loaded. */
export function readOutlines({ database }: Pick<Context, 'database'>, { code }: Region): Promise<Outline[]> {
  return database.query<Outline & Record<string, unknown>>(report('outlines'), [code]);
}

/** Details of a build or check step. */
type StepDetail = { readonly seconds?: Readonly<Record<string, number>> } & Partial<Checked>;

async function readReleases(database: Context['database'], region: number): Promise<ReportedRelease[]> {
  const found = await database.query<Omit<ReportedRelease, 'holds'> & Record<string, unknown>>(report('releases'), [region]);
  return found.map((release) => {
    const { records, rows, rejects, duplicates } = release;
    return {
      ...release,
      holds: records === rows + rejects + duplicates && release.broken_members.length === 0
        && release.member_records === records && release.member_rows === rows && release.kept_rejects === rejects && release.kept_duplicates === duplicates,
    };
  });
}

async function readCoverage({ database, log }: Pick<Context, 'database' | 'log'>, region: number): Promise<ComuneCoverage[]> {
  type Named = Pick<ComuneCoverage, 'belfiore' | 'name' | 'province_code' | 'province_name'>;
  const comuni = await database.query<Named & Record<string, unknown>>(report('comuni'), [region]);
  const found: ComuneCoverage[] = [];
  for (const comune of comuni) {
    log.progress(`coverage of comuni: ${found.length} of ${comuni.length}`);
    const { coverage } = await one<{ coverage: Pick<ComuneCoverage, 'parcels_asked' | 'sections'> }>(database, report('coverage'), [region, comune.belfiore]);
    found.push({ ...comune, ...coverage });
  }
  return found;
}

type Figure = Readonly<Record<'state' | 'slice' | 'province' | 'comune', string>> & {
  readonly relation: Relation; readonly rows: number; readonly fields: Readonly<Record<string, FieldFigures>>;
};

/** Returns the statistics of the quality gate by table, slice, province and field, with the medians of the comuni. */
async function readDistributions(database: Context['database'], region: number): Promise<Distribution[]> {
  const figures = await database.query<Figure & Record<string, unknown>>(report('figures'), [region]);
  const found = new Map<string, Record<'now' | 'before', Moment | null> & Omit<Distribution, 'now' | 'before'>>();
  const medians = new Map<string, number[]>();
  for (const { state, relation, slice, province, comune, rows, fields } of figures) {
    const gate = GATES[relation];
    if (gate === undefined || 'unwatched' in gate || province === WHOLE) continue;
    const when = state === 'current' ? 'now' : 'before';
    for (const [field, { values, median, p95 }] of Object.entries(fields)) {
      const key = JSON.stringify([relation, slice, province, field]);
      const mine = medians.get(`${when}${key}`) ?? [];
      medians.set(`${when}${key}`, mine);
      if (comune !== '') {
        if (median !== null) mine.push(median);
        continue;
      }
      const distribution = found.get(key) ?? { section: gate.section, relation, slice, province, field, now: null, before: null };
      distribution[when] = { rows, values, median, p95, medians: mine };
      found.set(key, distribution);
    }
  }
  for (const each of medians.values()) each.sort((a, b) => a - b);
  return [...found.values()];
}

/** Returns all checks of the sections, each with the result and whether the check ran for the publication. */
function checksOf(checked: StepDetail | null): RegionReport['checks'] {
  const rows = new Map((checked?.warnings ?? []).map((warning) => [warning.name, warning.rows]));
  return {
    all: readSectionFiles('checks').flatMap(readChecks).map(({ name, level, expects }) => ({
      name, level, expects, asked: checked?.asked?.includes(name) ?? null, rows: rows.get(name) ?? 0,
    })),
  };
}
