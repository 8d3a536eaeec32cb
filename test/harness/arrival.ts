/**
 * Changes a data folder and its database, for tests that compare the publication with a fresh load of the current files.
 */
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createReadStream, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../pipelines/run/context.ts';
import { ident, openDatabase, type Database, type Session } from '../../pipelines/db/index.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { maskTaxCode } from '../../pipelines/mask-tax-code.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { schemaOf } from '../../pipelines/contract/sql-files.ts';
import { Inventory } from '../../pipelines/ledger/inventory.ts';
import { publishedTables } from '../../pipelines/ledger/published.ts';
import { refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { raisePrices, seismicZones } from './faults/region.ts';
import { contextOn, syntheticFiles, loadOptions } from './region.ts';
import { rewriteZip } from './rewrite-zip.ts';

export const REGION = 14;
/** Accepts every refusal of the quality gate, because these tests do not test the gate. */
export const ACCEPTED = { who: 'test', why: 'a test' } as const;
/** Columns that are not content, because they record where and when a row was read or published. Fids are replaced by references. */
const NOT_CONTENT = ['release_id', 'member_id', 'position', 'document_id', 'file_id', 'first_run_id', 'fid'];

/**
 * Returns the number of rows and a digest of each current table of these regions. Fids are replaced by references, so digests do not depend on the order in
 * which files arrived.
 */
export async function contentOf(database: Database, regions: readonly number[]): Promise<Record<string, string>> {
  return database.session(async (session) => {
    const found: Record<string, string> = {};
    for (const region of regions) {
      const tables = await publishedTables(session, region);
      const parcels = tables.get('core.parcel');
      for (const [relation, { currentTable }] of tables) found[`${region} ${relation}`] = await digest(session, schemaOf(relation), currentTable, parcels?.currentTable ?? null);
    }
    return found;
  });
}

async function digest(session: Session, schema: string, table: string, parcels: string | null): Promise<string> {
  const columns = (await session.query<{ name: string }>(
    'select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attname', [ident(schema, table)],
  )).map(({ name }) => name);
  const hasFid = columns.includes('fid') && parcels !== null;
  const values = columns.filter((name) => !NOT_CONTENT.includes(name)).map((name) => `t.${ident(name)}`);
  const [row] = await session.query<{ rows: number; digest: string }>(
    `select count(*) as rows, coalesce(sum(hashtextextended(row(${[...values, ...(hasFid ? ['p.reference'] : [])].join(', ')})::text, 0)::numeric), 0)::text as digest
     from ${ident(schema, table)} t ${hasFid ? `left join ${ident('core', parcels)} p on p.fid = t.fid` : ''}`,
  );
  return `${row!.rows} rows, ${row!.digest}`;
}

/** Files of parcels, addresses and comuni. If one of these files is missing, a region may be withheld from publication. */
const WITHHOLDING = /^(?:MOLISE|CB|IS|[AZ]\d{3}_.*|indirizzario.*|stradario.*)\.zip$|^Elenco/;
/** Files that `Story.issueAgain` can replace with a new issue. */
const REISSUED = /^(?:MOLISE|CB|IS|Z\d{3}_.*)\.zip$|^classificazione|_VALORI\.csv$|^italia_ag|^(?:indirizzario|stradario)/;

/** Returns the names of the files that are added and removed together. A shapefile without one of its files would be refused as damaged. */
function partsOf(name: string, names: readonly string[]): string[] {
  const [stem] = /^.*(?=\.(?:shp|shx|dbf|prj)$)/.exec(name) ?? [];
  return stem === undefined ? [name] : names.filter((each) => ['shp', 'shx', 'dbf', 'prj'].some((end) => each === `${stem}.${end}`));
}

/** Keeps a copy of every loaded file, keyed by the file's `file_id` in the ledger. */
export class Archive {
  readonly #folder: string;
  readonly #kept = new Map<number, string>();

  constructor(folder: string, base?: Archive) {
    this.#folder = folder;
    for (const [id, into] of base === undefined ? [] : base.#kept) this.#kept.set(id, into);
  }

  /** Copies the loaded files that have no copy yet. Call it before the folder changes again. */
  async keep(database: Database): Promise<void> {
    const rows = await database.query<{ id: number; path: string }>("select f.file_id as id, f.path from ledger.file f join ledger.release r using (release_id) where r.state = 'loaded' order by 1");
    for (const { id, path } of rows) {
      if (this.#kept.has(id)) continue;
      const into = join(this.#folder, String(id));
      await mkdir(into, { recursive: true });
      const stem = basename(path).replace(/\.[^.]*$/, '');
      for (const name of await readdir(dirname(path))) if (maskTaxCode(name).replace(/\.[^.]*$/, '') === stem) await copyFile(join(dirname(path), name), join(into, name));
      this.#kept.set(id, into);
    }
  }

  /** Copies the current files of the region and of Italy from the archive to the folder `into`. @returns the folder */
  async copyCurrentFiles(database: Database, context: Context, into: string): Promise<string> {
    const inventory = await Inventory.read(database, context.sources);
    const used = new Set([...inventory.used(REGION), ...inventory.used(0)].map(({ fileId }) => fileId));
    await mkdir(into, { recursive: true });
    for (const id of used) await cp(this.#kept.get(id)!, join(into, String(id)), { recursive: true });
    return into;
  }
}

export interface Start {
  readonly folder: string;
  /** URL of a database with the loaded files, from which tests make copies. */
  readonly url: string;
  readonly archive: Archive;
  remove(): Promise<void>;
}

/** Loads a very small region into this database. The region has four comuni in two provinces, and files of every source. */
export async function smallStart(url: string): Promise<Start> {
  const files = await syntheticFiles(160, 3, { comuni: 4 });
  const kept = await mkdtemp(join(tmpdir(), 'mappale-start-'));
  const archive = new Archive(kept);
  const context = await contextOn(await openDatabase(url));
  try {
    const { failures } = await refresh(context, loadOptions([files.folder], [REGION], { accept: ACCEPTED }));
    if (failures.length > 0) throw failures[0]!;
    await archive.keep(context.database);
  } finally {
    await context.database.close();
  }
  return {
    folder: files.folder, url, archive,
    async remove() {
      await files.remove();
      await rm(kept, { recursive: true, force: true });
    },
  };
}

/** Possible changes. `pick` chooses one of the available files. `after` is the time in ms after which a run is killed. */
export type Happening =
  | { readonly what: 'take away' | 'put back' | 'issue again' | 'comune alone' | 'forget' | 'damage' | 'repair'; readonly pick: number }
  | { readonly what: 'split' | 'merge' | 'move' | 'refresh' | 'roll back' }
  | { readonly what: 'kill'; readonly after: number };

export class Story {
  readonly folder: string;
  readonly url: string;
  readonly #base: string;
  readonly #root: string;
  readonly #archive: Archive;
  context: Context;
  /** Days since the first issue. */
  #day = 0;
  /** Names of files that are damaged and not yet repaired. */
  readonly #damaged: string[] = [];

  private constructor(root: string, start: Start, url: string, context: Context) {
    this.#root = root;
    this.folder = join(root, 'data');
    this.#base = start.folder;
    this.url = url;
    this.#archive = new Archive(join(root, 'archive'), start.archive);
    this.context = context;
  }

  /** @param url URL of a copy of the start database */
  static async begin(start: Start, url: string): Promise<Story> {
    const root = await mkdtemp(join(tmpdir(), 'mappale-story-'));
    await cp(start.folder, join(root, 'data'), { recursive: true, preserveTimestamps: true });
    return new Story(root, start, url, await contextOn(await openDatabase(url)));
  }

  async end(): Promise<void> {
    await this.context.database.close();
    await rm(this.#root, { recursive: true, force: true });
  }

  async refresh(): Promise<RefreshReport> {
    let report: RefreshReport | undefined;
    for (let tries = 0; report === undefined; tries += 1) {
      try {
        report = await refresh(this.context, loadOptions([this.folder], [REGION], { accept: ACCEPTED }));
      } catch (error) {
        // The server needs a moment to notice that a run was killed.
        if (!(error instanceof MappaleError) || error.code !== 'ALREADY_RUNNING' || tries === 60) throw error;
        await sleep(250);
      }
    }
    await this.#archive.keep(this.context.database);
    return report;
  }

  /** Copies the loaded files to the archive. A test calls this method after it killed a run in another process. */
  async keep(): Promise<void> {
    await this.#archive.keep(this.context.database);
  }

  async fresh(url: string): Promise<Record<string, string>> {
    const folder = await this.#archive.copyCurrentFiles(this.context.database, this.context, join(this.#root, 'fresh'));
    const context = await contextOn(await openDatabase(url));
    try {
      const report = await refresh(context, loadOptions([folder], [REGION], { accept: ACCEPTED }));
      if (report.failures.length > 0) throw report.failures[0]!;
      return await contentOf(context.database, await this.regions(context.database));
    } finally {
      await context.database.close();
      await rm(folder, { recursive: true, force: true });
    }
  }

  async regions(database: Database): Promise<number[]> {
    const inventory = await Inventory.read(database, this.context.sources);
    // Without a list of comuni, Italy keeps its earlier publication, so only the region is compared.
    return inventory.register.size === 0 ? [REGION] : [0, REGION];
  }

  #date(): string {
    this.#day += 1;
    return new Date(Date.UTC(2026, 6, 1 + this.#day)).toISOString().slice(0, 10);
  }

  async #names(): Promise<string[]> {
    return (await readdir(this.folder, { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name).sort();
  }

  async takeAway(pick: number): Promise<void> {
    const names = await this.#names();
    const name = names[pick % names.length]!;
    // One file is kept, because an empty folder is an error that other tests cover.
    if (names.length > 1) for (const part of partsOf(name, names)) await rm(join(this.folder, part));
  }

  async putBack(pick: number): Promise<void> {
    const all = (await readdir(this.#base, { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name).sort();
    const names = new Set(await this.#names());
    const gone = all.filter((name) => !names.has(name));
    const name = gone[pick % gone.length];
    if (name !== undefined) for (const part of partsOf(name, gone)) await copyFile(join(this.#base, part), join(this.folder, part));
  }

  /** Damages an optional file in the way that a failed download does. The file becomes a web page, or loses its end. */
  async damage(pick: number): Promise<void> {
    const can = (await this.#names()).filter((name) => /\.(?:zip|gpkg|xlsx|csv|txt|tif|h5|geojson)$/.test(name) && !WITHHOLDING.test(name) && !REISSUED.test(name));
    const name = can[pick % can.length];
    if (name === undefined) return;
    const path = join(this.folder, name);
    const content = await readFile(path);
    await writeFile(path, pick % 2 === 1 && /\.(?:zip|gpkg|xlsx)$/.test(name) ? content.subarray(0, Math.floor(content.length * 0.6)) : '<!DOCTYPE html><p>made: busy</p>');
    this.#damaged.push(name);
  }

  async repair(pick: number): Promise<void> {
    const [name] = this.#damaged.splice(pick % Math.max(1, this.#damaged.length), 1);
    if (name !== undefined && existsSync(join(this.folder, name))) await copyFile(join(this.#base, name), join(this.folder, name));
  }

  /** Replaces a file with a new issue whose content differs. */
  async issueAgain(pick: number): Promise<void> {
    const names = await this.#names();
    const can = names.filter((name) => REISSUED.test(name));
    const name = can[pick % can.length];
    if (name === undefined) return;
    const path = join(this.folder, name);
    if (name.startsWith('classificazione')) return seismicZones(this.folder, String(1 + (this.#day += 1) % 4));
    if (name.endsWith('_VALORI.csv')) return raisePrices(this.folder, (this.#day += 1));
    const date = this.#date();
    if (/^(?:indirizzario|stradario)/.test(name)) {
      const later = name.replace(/\d{8}/, date.replaceAll('-', ''));
      await rewriteZip(path, (_inner, content) => withoutLine(content, pick), { into: join(this.folder, later), renamed: (inner) => inner.replace(/\d{8}/, date.replaceAll('-', '')), modified: date });
      if (later !== name) await rm(path);
    } else if (name.startsWith('italia_ag')) {
      const other = (_all: string, digits: string): string => `0.${String((Number(digits) + pick % 7 + 1) % 1000).padStart(3, '0')}`;
      await rewriteZip(path, (_inner, content) => Buffer.from(content.toString('latin1').replace(/0\.(\d{3})\b/g, other), 'latin1'), { modified: date });
    } else {
      let done = false;
      await rewriteZip(path, (inner, content) => {
        if (done || !inner.endsWith('_ple.gml')) return content;
        done = true;
        return withoutParcel(content, pick);
      }, { modified: date });
    }
  }

  /** Replaces the region's zip with the zips of its provinces. */
  async split(): Promise<void> {
    const path = join(this.folder, 'MOLISE.zip');
    if (!existsSync(path)) return;
    const zip = await ZipArchive.open(path);
    for (const entry of zip.entries) await writeFile(join(this.folder, entry.path), await zip.buffer(entry.path));
    await zip.close();
    await rm(path);
  }

  async merge(): Promise<void> {
    const parts = ['CB.zip', 'IS.zip'].map((name) => join(this.folder, name));
    if (!parts.every((path) => existsSync(path))) return;
    const date = this.#date();
    await writeZip(join(this.folder, 'MOLISE.zip'), parts.map((path) => [basename(path), createReadStream(path), { modified: date }]));
    await Promise.all(parts.map((path) => rm(path)));
  }

  /** Moves the first comune of `CB.zip` to `IS.zip`, unless it is the only comune. */
  async move(): Promise<void> {
    const [from, to] = [join(this.folder, 'CB.zip'), join(this.folder, 'IS.zip')];
    if (!existsSync(from) || !existsSync(to)) return;
    const date = this.#date();
    const source = await ZipArchive.open(from);
    const target = await ZipArchive.open(to);
    const moved = source.entries[0]!.path;
    const content = await source.buffer(moved);
    const left = await Promise.all(source.entries.slice(1).map(async ({ path }) => [path, await source.buffer(path)] as const));
    const stay = await Promise.all(target.entries.filter(({ path }) => path !== moved).map(async ({ path }) => [path, await target.buffer(path)] as const));
    await source.close();
    await target.close();
    if (left.length === 0) return;
    for (const [path, entries] of [[from, left], [to, [...stay, [moved, content] as const]]] as const) {
      await writeZip(path, entries.map(([name, bytes]) => [name, bytes, { modified: date }]));
    }
  }

  /** Adds a zip of a single comune that is newer than the zip of its region or province. */
  async comuneAlone(pick: number): Promise<void> {
    const [container] = (await this.#names()).filter((name) => /^(?:MOLISE|CB|IS)\.zip$/.test(name));
    if (container === undefined) return;
    const outer = await ZipArchive.open(join(this.folder, container));
    const province = container === 'MOLISE.zip' ? await outer.archive(outer.entries[pick % outer.entries.length]!.path) : outer;
    // Some entries are plain GML files, not zips. The file of the sea is left out, because a zip with only that file would be refused.
    const comuni = province.entries.filter(({ path }) => path.endsWith('.zip') && !path.startsWith('A000'));
    const entry = comuni[pick % comuni.length]!;
    const path = join(this.folder, entry.path);
    await writeFile(path, await province.buffer(entry.path));
    if (province !== outer) await province.close();
    await outer.close();
    await rewriteZip(path, (inner, content) => (inner.endsWith('_ple.gml') ? withoutParcel(content, pick) : content), { modified: this.#date() });
  }

  /** Returns the SHA-256 of a loaded file, or null. Files of the cadastre are never chosen. */
  async forgettable(pick: number): Promise<string | null> {
    const rows = await this.context.database.query<{ sha256: string }>(
      `select distinct f.sha256 from ledger.file f join ledger.release r using (release_id) where r.state = 'loaded' and f.forgotten_at is null and r.source_id not in ('ade_cadastre') order by 1`,
    );
    return rows[pick % Math.max(1, rows.length)]?.sha256 ?? null;
  }
}

/** Removes a parcel, other than the first three and the last. No other parcel surrounds the removed parcel, so no other parcel changes. */
function withoutParcel(gml: Buffer, pick: number): Buffer {
  const members = [...gml.toString('utf8').matchAll(/<wfs:member>[\s\S]*?<\/wfs:member>\s*/g)];
  if (members.length < 5) return gml;
  const [gone] = members[3 + (pick % (members.length - 4))]!;
  return Buffer.from(gml.toString('utf8').replace(gone, ''));
}

/**
 * Removes a line, other than the first five and the last five. A file with fewer than 12 lines stays unchanged. The empty text after a final line break counts
 * as a line.
 */
function withoutLine(csv: Buffer, pick: number): Buffer {
  const lines = csv.toString('utf8').split('\n');
  if (lines.length < 12) return csv;
  lines.splice(5 + (pick % (lines.length - 10)), 1);
  return Buffer.from(lines.join('\n'));
}
