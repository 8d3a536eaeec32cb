/** Everything that the ledger and the gate know of what is published of a region, for the report that people read and programs take. */
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

const report = statementsOf('report');

export interface Publication {
  /** Region, or 0 for Italy, whose lists of names stand beside. */
  readonly unit: number;
  readonly publication: number;
  readonly state: 'current' | 'previous';
  /** UTC. */
  readonly published_at: string;
  readonly digest: string | null;
  /** Why it was published although the quality gate refused, and who said so; null: it did not refuse. */
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

/** A release with its sum, and the same counted again from what the ledger keeps of members, rejects and duplicates. */
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
  /** Members of which records are not rows + rejects + duplicates. */
  readonly broken_members: readonly string[];
  /** From its first record to its layers. */
  readonly seconds: number | null;
  /** Whether the sum holds, and every count agrees with its other one. */
  readonly holds: boolean;
  /** What checks of its rows found that stopped nothing; null: it was loaded before that was kept, or by another run. */
  readonly warnings: readonly Warning[] | null;
}

export interface ReportedTable {
  readonly unit: number;
  readonly relation: Relation;
  readonly partition: string;
  readonly rows: number;
  /** With its indexes; null: it is not on this node. */
  readonly bytes: number | null;
  readonly rows_before: number | null;
  /** It is the one of the publication before. */
  readonly stands: boolean;
  /** What it took to make; null: it stood, its rows were copied, or it was made before that was kept. */
  readonly seconds: number | null;
}

/**
 * mapped; none: mapped, and nothing is there; partial: parts of it, or some of the maps; not_mapped: what is loaded does not reach it; not_loaded;
 * not_applicable: the section is made for none of the parcels asked.
 */
export const COVERAGE_STATES = ['mapped', 'none', 'partial', 'not_mapped', 'not_loaded', 'not_applicable'] as const;

export type CoverageState = (typeof COVERAGE_STATES)[number];

export interface SectionCoverage {
  readonly section: string;
  /** Of a section that says map by map what covers a place; else null. */
  readonly map: string | null;
  readonly state: CoverageState;
  /** Rows of the section in the comune, or values of its map; null: not counted. */
  readonly rows: number | null;
  /** Parcels that were asked, by their answer. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface ComuneCoverage {
  readonly belfiore: string;
  readonly name: string | null;
  readonly province_code: string;
  readonly province_name: string | null;
  /** Land parcels whose records were asked; 0: it has none. */
  readonly parcels_asked: number;
  readonly sections: readonly SectionCoverage[];
}

export interface Moment {
  readonly rows: number;
  readonly values: number;
  readonly median: number | null;
  readonly p95: number | null;
  /** Medians of the comuni, ascending; empty where the field has none. */
  readonly medians: readonly number[];
}

/** A field of a table in one province and slice, now and in the publication before. */
export interface Distribution {
  readonly section: string;
  readonly relation: Relation;
  readonly slice: string;
  readonly province: string;
  readonly field: string;
  readonly now: Moment | null;
  /** Null: it was not published before, or not measured. */
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

export interface ReportedStep {
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
  readonly distributions: readonly Distribution[];
  readonly rejects: readonly ReportedRejects[];
  readonly checks: {
    /** Each with what is expected; asked: whether it was asked when this was published, null where that was not kept. */
    readonly all: readonly { readonly name: string; readonly level: string; readonly expects: string; readonly asked: boolean | null; readonly rows: number }[];
  };
  /** Columns that publishers added to files of the region and of Italy. Values are not in it, because the report is passed on. */
  readonly added_columns: readonly FileWarning[];
  /** Files of the region and of Italy that may be cut exports of a web service. */
  readonly cut_exports: readonly FileWarning[];
  readonly steps: readonly ReportedStep[];
  readonly tables: readonly ReportedTable[];
  readonly licenses: readonly ReportedLicense[];
}

/** A comune's outline: polygons of rings of longitude and latitude, simplified to what a small map shows. */
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
  return {
    region: { code, name },
    publications,
    held: (await holds(database)).get(code) ?? null,
    releases: await readReleases(database, code),
    coverage: await readCoverage({ database, log }, code),
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

/** Outlines of the comuni of a region; none where no boundaries are loaded. */
export function readOutlines({ database }: Pick<Context, 'database'>, { code }: Region): Promise<Outline[]> {
  return database.query<Outline & Record<string, unknown>>(report('outlines'), [code]);
}

/** Of a step that made tables, or of one of checks. */
type StepDetail = { readonly seconds?: Readonly<Record<string, number>> } & Partial<Checked>;

async function readReleases(database: Context['database'], unit: number): Promise<ReportedRelease[]> {
  const found = await database.query<Omit<ReportedRelease, 'holds'> & Record<string, unknown>>(report('releases'), [unit]);
  return found.map((release) => {
    const { records, rows, rejects, duplicates } = release;
    return {
      ...release,
      holds: records === rows + rejects + duplicates && release.broken_members.length === 0
        && release.member_records === records && release.member_rows === rows && release.kept_rejects === rejects && release.kept_duplicates === duplicates,
    };
  });
}

async function readCoverage({ database, log }: Pick<Context, 'database' | 'log'>, unit: number): Promise<ComuneCoverage[]> {
  type Named = Pick<ComuneCoverage, 'belfiore' | 'name' | 'province_code' | 'province_name'>;
  const comuni = await database.query<Named & Record<string, unknown>>(report('comuni'), [unit]);
  const found: ComuneCoverage[] = [];
  for (const comune of comuni) {
    log.progress(`what covers each comune: ${found.length} of ${comuni.length}`);
    const { coverage } = await one<{ coverage: Pick<ComuneCoverage, 'parcels_asked' | 'sections'> }>(database, report('coverage'), [unit, comune.belfiore]);
    found.push({ ...comune, ...coverage });
  }
  return found;
}

type Figure = Readonly<Record<'state' | 'slice' | 'province' | 'comune', string>> & {
  readonly relation: Relation; readonly rows: number; readonly fields: Readonly<Record<string, FieldFigures>>;
};

/** By table, slice, province and field: what the quality gate kept of the province, and the medians that it kept of its comuni. */
async function readDistributions(database: Context['database'], unit: number): Promise<Distribution[]> {
  const figures = await database.query<Figure & Record<string, unknown>>(report('figures'), [unit]);
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

/** The checks of the sections; those that speak of what was published say whether they were asked, and what they found. */
function checksOf(checked: StepDetail | null): RegionReport['checks'] {
  const rows = new Map((checked?.warnings ?? []).map((warning) => [warning.name, warning.rows]));
  return {
    all: readSectionFiles('checks').flatMap(readChecks).map(({ name, level, expects }) => ({
      name, level, expects, asked: checked?.asked?.includes(name) ?? null, rows: rows.get(name) ?? 0,
    })),
  };
}
