/** Reads and writes the ledger of releases, files, rejects and statistics. Runs are in `runs.ts`. */
import type { Figures } from '../db/figures.ts';
import { one, type Session } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import type { MappaleError } from '../errors.ts';
import type { Facts } from '../contract/fingerprint.ts';
import { maskTaxCode } from '../mask-tax-code.ts';
import type { Relation } from '../contract/sql-files.ts';
import type { SampledColumn } from '../contract/added-columns.ts';
import type { FilePlaces, LoadedFile } from './current-files.ts';
import type { LocatedFile, SeenFile, SeenFiles } from '../contract/survey.ts';

const ledger = statementsOf('ledger');

type ReleaseState = 'staging' | 'loaded' | 'failed';

export interface Release {
  readonly releaseId: number;
  readonly sourceId: string;
  readonly vintage: string;
  readonly region: number | null;
  readonly fingerprint: string;
  readonly complete: boolean;
  readonly state: ReleaseState;
  readonly records: number | null;
  readonly rows: number | null;
  readonly rejects: number | null;
  readonly duplicates: number | null;
  /** Number of rows of each layer; null before the release is loaded. */
  readonly layers: Readonly<Record<string, number>> | null;
  /**
   * Facts that determine the rows in addition to the files, such as the source's version and digests of its SQL. Null if an older version of the program
   * recorded no facts.
   */
  readonly inputs: Facts | null;
}

export async function releases(database: Session, state?: ReleaseState): Promise<Release[]> {
  return database.query<Release & Record<string, unknown>>(ledger('releases'), [state ?? null]);
}

/** Creates the ledger row of a release before staging. First deletes an unfinished or failed release with the same fingerprint. @returns the release id */
export async function openRelease(
  session: Session,
  facts: { sourceId: string; vintage: string; region: number | null; fingerprint: string; reader: string; inputs: Facts; complete: boolean },
): Promise<number> {
  await session.query(ledger('forget_unfinished'), [facts.fingerprint]);
  const { sourceId, vintage, region, fingerprint, reader, inputs, complete } = facts;
  return (await one<{ id: number }>(session, ledger('add_release'), [sourceId, vintage, region, fingerprint, reader, JSON.stringify(inputs), complete])).id;
}

export async function addFile(session: Session, releaseId: number, file: LocatedFile): Promise<number> {
  const { role, vintage, dated, region, complete, place } = file.recognition;
  return (await one<{ id: number }>(session, ledger('add_file'), [
    releaseId, maskTaxCode(file.path), file.name, role, file.sha256, file.size, vintage, dated ?? null, region, complete, place ?? null,
  ])).id;
}

/** Returns all files of loaded releases, with the places of each file. */
export async function loadedFiles(session: Session): Promise<LoadedFile[]> {
  const files = await session.query<Omit<LoadedFile, 'held'> & Record<string, unknown>>(ledger('loaded_files'));
  const held = new Map<number, FilePlaces[]>();
  for (const { fileId, ...places } of await session.query<FilePlaces & { fileId: number } & Record<string, unknown>>(ledger('places_of_files'))) {
    const mine = held.get(fileId) ?? [];
    mine.push(places);
    held.set(fileId, mine);
  }
  return files.map((file) => ({ ...file, held: held.get(file.fileId) ?? [] }));
}

/** Records which loaded files this run found in the data folders. @param present ids of all found files @param came ids of the found files that were absent */
export async function noteFiles(session: Session, runId: number, present: readonly number[], came: readonly number[]): Promise<void> {
  await session.query(ledger('note_absent'), [[...present]]);
  await session.query(ledger('note_present'), [[...came], runId]);
}

/**
 * Records why a release could not be loaded. Keeps the release's rejects. @returns the id of the release, or null if the ledger has no release with this
 * fingerprint in the state `staging`
 */
export async function failRelease(session: Session, fingerprint: string, error: MappaleError): Promise<number | null> {
  const [row] = await session.query<{ id: number }>(ledger('fail_release'), [fingerprint, JSON.stringify(error)]);
  return row?.id ?? null;
}

/** A warning about a file in use: the publisher added a column, or the file may be an incomplete export. */
export interface SchemaWarning {
  readonly code: 'COLUMNS_ADDED' | 'EXPORT_MAY_BE_CUT';
  readonly source: string;
  readonly vintage: string;
  readonly file: string;
  /** Name of the column; null for `EXPORT_MAY_BE_CUT`, which concerns the whole file. */
  readonly column: string | null;
  /** Sample values of the column, which the program shows only on this machine. */
  readonly samples: readonly string[];
  /** Regions with a current publication that uses the file (0 for Italy). Empty if the file is loaded but not yet published. */
  readonly units: readonly number[];
}

export async function addAddedColumns(session: Session, memberId: number, columns: readonly SampledColumn[]): Promise<void> {
  if (columns.length === 0) return;
  await session.query(ledger('add_added_columns'), [memberId, JSON.stringify(columns.map(({ column, samples }, index) => ({ ordinal: index + 1, name: column, samples })))]);
}

/** Returns a warning for each added column and each incomplete export in the files of current publications. @param releases unpublished releases to include */
export async function schemaWarnings(session: Session, releases: readonly number[] = []): Promise<SchemaWarning[]> {
  return session.query<SchemaWarning & Record<string, unknown>>(ledger('schema_warnings'), [[...releases]]);
}

/**
 * A warning about one file, with the columns that its publisher added. The warning has no sample values, so that the program may send the warning to other
 * machines.
 */
export interface FileWarning extends Pick<SchemaWarning, 'code' | 'source' | 'vintage' | 'file'> {
  /** Added columns; empty for `EXPORT_MAY_BE_CUT`. */
  readonly columns: readonly string[];
}

/** Groups warnings by code and file. @param warnings the warnings, sorted by file */
export function warningsByFile(warnings: readonly SchemaWarning[]): (FileWarning & { readonly added: readonly SchemaWarning[] })[] {
  const files = new Map<string, SchemaWarning[]>();
  for (const warning of warnings) {
    const key = JSON.stringify([warning.code, warning.source, warning.vintage, warning.file]);
    files.set(key, [...files.get(key) ?? [], warning]);
  }
  return [...files.values()].flatMap((added) => {
    const [first] = added;
    if (first === undefined) return [];
    const { code, source, vintage, file } = first;
    return [{ code, source, vintage, file, columns: added.flatMap(({ column }) => column ?? []), added }];
  });
}

/** Groups warnings by code and file and removes the samples. */
export function withoutSamples(warnings: readonly SchemaWarning[]): FileWarning[] {
  return warningsByFile(warnings).map(({ added: _, ...warning }) => warning);
}

export interface RejectRow {
  readonly memberId: number;
  readonly step: 'stage' | 'load';
  readonly position: number;
  readonly code: string;
  readonly message: string;
  readonly raw: Buffer;
}

export async function addRejects(session: Session, releaseId: number, rejects: readonly RejectRow[]): Promise<void> {
  if (rejects.length === 0) return;
  await session.query(ledger('add_rejects'), [
    releaseId,
    rejects.map(({ memberId }) => memberId),
    rejects.map(({ step }) => step),
    rejects.map(({ position }) => position),
    rejects.map(({ code }) => code),
    rejects.map(({ message }) => message.replaceAll('\0', '\u2400')),
    rejects.map(({ raw }) => raw.toString('hex')),
  ]);
}

/** Returns the quality gate's statistics of the published table; empty if the table was published without statistics. */
export async function figuresOf(session: Session, region: number, relation: Relation): Promise<Figures[]> {
  return session.query<Figures & Record<string, unknown>>(ledger('figures'), [region, relation]);
}

export async function addFigures(session: Session, relation: Relation, partition: string, figures: readonly Figures[]): Promise<void> {
  await session.query(ledger('add_figures'), [relation, partition, JSON.stringify(figures)]);
}

/** Stores the results of earlier surveys in the ledger, by file. A command reads all results once, and writes the changes later with `write`. */
export class SeenFileLedger implements SeenFiles {
  readonly #known: Map<string, SeenFile>;
  readonly #changed = new Set<string>();
  readonly #recogniser: string;

  private constructor(known: Map<string, SeenFile>, recogniser: string) {
    this.#known = known;
    this.#recogniser = recogniser;
  }

  /** Reads the results of earlier surveys. @param recogniser digest of the versions of all sources. Results with a different digest are ignored */
  static async read(database: Session, recogniser: string): Promise<SeenFileLedger> {
    const rows = await database.query<SeenFile & { path: string; recogniser: string } & Record<string, unknown>>(ledger('seen_files'));
    const known = new Map(rows.filter((row) => row.recogniser === recogniser).map(({ path, recogniser: _, ...seen }) => [path, seen]));
    return new SeenFileLedger(known, recogniser);
  }

  get(path: string): SeenFile | undefined {
    return this.#known.get(maskTaxCode(path));
  }

  set(path: string, seen: SeenFile): void {
    this.#known.set(maskTaxCode(path), seen);
    this.#changed.add(maskTaxCode(path));
  }

  async write(database: Session): Promise<void> {
    // Writes the rows in a fixed order, so that two commands with the same folders do not deadlock.
    const rows = [...this.#changed].sort().map((path) => ({ path, ...this.#known.get(path) }));
    if (rows.length === 0) return;
    await database.query(ledger('note_seen_files'), [JSON.stringify(rows), this.#recogniser]);
    this.#changed.clear();
  }
}

/** Acceptance of a refused publication: user and reason. */
export interface Acceptance {
  /** `user@host`. */
  readonly who: string;
  readonly why: string;
}
