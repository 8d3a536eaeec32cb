/** Reads SQL files. The header of an SQL file lists the relations that the file reads and writes. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from '../config.ts';
import { IS_COMPILED } from '../program.ts';
import { effectiveSql, normalSql } from './sql-text.ts';

/** Name of a table with its schema, such as `layer.boundary`. */
export type Relation = `${string}.${string}`;

/**
 * Rule of a `-- incremental:` line: the rows that a refresh may copy from the published table. Without such a line, no rows are copied.
 * - `members`: each row depends on one row of these layers, so rows of reused members are unchanged.
 * - `parcels`: each row depends only on its parcel, and on the vintages of the layers in `vintagesOf`.
 * - `near`: each row depends on its parcel and on the parcels within a distance in metres.
 * - `sharing`: each row depends on its parcel and on the parcels with the same value in a column.
 * - `meeting`: each row depends on its parcel and on the parcels under the same feature of these layers.
 * - `content`: the whole table is built if an input changed. If the result equals the published table, the published table stays, and rows of other tables
 *   that depend on this table may be copied. `parcels` states whether the rows depend on all parcels, or only on the outline of all parcels
 *   (`sql/steps/outline_differs.sql`).
 */
type Incremental =
  | { readonly by: 'members'; readonly layers: readonly Relation[] }
  | { readonly by: 'parcels'; readonly vintagesOf: readonly Relation[] }
  | { readonly by: 'near'; readonly withinM: number }
  | { readonly by: 'sharing'; readonly column: string }
  | { readonly by: 'meeting'; readonly layers: readonly Relation[] }
  | { readonly by: 'content'; readonly parcels: 'all' | 'outline' };

export interface SqlFile {
  /** Path relative to the project's root. */
  readonly file: string;
  /** Section of the file; null if the file is not in the folder of a section. */
  readonly section: string | null;
  readonly purpose: string;
  readonly reads: readonly Relation[];
  readonly writes: readonly Relation[];
  /** Area for which one run of the file builds rows. */
  readonly scope: 'region' | 'italy';
  /** Codes of the regions for which this file replaces the general file; null for a general file. */
  readonly regions: readonly number[] | null;
  readonly incremental: Incremental | null;
  /** Version of a file that builds a published table; null for other files. Increased by one with every change of the file's result. */
  readonly version: number | null;
  /** For a section's `explain.sql`: tables whose build files run first, on one parcel or on all parcels of the comune. */
  readonly reruns: readonly Relation[];
  readonly parcels: 'one' | 'comune';
  /** For a section's `attribution.sql`: sources that the file may cite. */
  readonly cites: readonly string[];
  /** For a section's `attribution.sql`: statements that create the table `fact`, whose rows determine all citations; null if the file has no such table. */
  readonly facts: readonly SqlPart[] | null;
  /** File in the same folder that defines a raster sweep; null without a sweep. The sweep runs at the line that names the file. */
  readonly sweep: string | null;
  /** The text of the file without the view `evidence`, and with the texts of the steps in place of the `-- step:` lines. */
  readonly text: string;
  /** The statements in the order in which they run. */
  readonly parts: readonly SqlPart[];
  /** SHA-256 of the text. */
  readonly sha256: string;
  /** Digest of the text without comments and layout. */
  readonly digest: string;
}

/** Consecutive statements of one file, or a sweep that runs between statements. Blank lines before the statements preserve the line numbers of the file. */
type SqlPart = { readonly file: string; readonly text: string } | { readonly sweep: string };

/** A named query that returns violations. */
export interface Check {
  readonly name: string;
  readonly level: 'error' | 'warn';
  /** Expected state of the data, as a sentence. */
  readonly expects: string;
  readonly sql: string;
  readonly file: string;
}

export function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Files that this process has parsed, with their contents, by path. */
const parsed = new Map<string, { readonly content: string; readonly file: SqlFile }>();

/**
 * Reads an SQL file. Parses the same content only once. The compiled program also reads each file only once, because its files do not change.
 * @throws Error if the header lacks a line, which is a bug that the architecture test finds
 */
export function readSqlFile(path: string): SqlFile {
  const known = parsed.get(path);
  if (known !== undefined && IS_COMPILED) return known.file;
  const content = readFileSync(path, 'utf8');
  if (known?.content === content) return known.file;
  const file = parseSqlFile(relative(ROOT, path), content);
  parsed.set(path, { content, file });
  return file;
}

/** The line of a `build.sql` before the view `evidence`. Only an explanation runs the view, so a changed view makes no table stale. */
const EVIDENCE = /^-- evidence\n/m;

/**
 * Returns the view `evidence` at the end of a `build.sql` as an `explain.sql`, before which the build file runs again. Returns null if there is no such view.
 */
function evidenceOf(build: SqlFile): SqlFile | null {
  const [above, view] = readFileSync(join(ROOT, build.file), 'utf8').split(EVIDENCE);
  if (above === undefined || view === undefined) return null;
  const text = '\n'.repeat(above.split('\n').length) + view;
  return {
    ...build, writes: [], reruns: build.writes, incremental: null, version: null, sweep: null, text, parts: [{ file: build.file, text }], sha256: sha256(text),
    digest: digestOf(text, normalSql),
  };
}

/** Folder of the steps. A step is a file that other files run with a line `-- step: <name>.sql`. */
const STEP_FOLDER = 'sql/steps';

/** The line of an `attribution.sql` that separates the statements of the table `fact` from the query of the citations. */
const CITATIONS = /^-- citations of the facts\n/m;

/** Splits the text of a file at the lines `-- step:`, `-- sweep:` and `-- citations of the facts`. Replaces each `-- step:` line by the parts of the step. */
function partsOf(file: string, text: string): SqlPart[] {
  let line = 0;
  return text.split(/^(-- (?:(?:step|sweep): .*|citations of the facts)\n)/m).flatMap((part): SqlPart[] => {
    const [, kind, name = ''] = /^-- (step|sweep): (\S+)\s*$/.exec(part) ?? [];
    const above = '\n'.repeat(line);
    line += part.split('\n').length - 1;
    if (kind === 'sweep') return [{ sweep: name }];
    if (kind === 'step') return [...readSqlFile(join(ROOT, STEP_FOLDER, name)).parts];
    return part.trim() === '' || CITATIONS.test(part) ? [] : [{ file, text: above + part }];
  });
}

/** A line `-- key: value` of a header. */
const KEY_LINE = /^-- ([a-z]+): *(.+)$/gm;

/** Parses a text as the content of a file. @throws Error if the header lacks a line */
export function parseSqlFile(file: string, content: string): SqlFile {
  const [text = ''] = content.split(EVIDENCE);
  let hash: string | undefined;
  let digest: string | undefined;
  const parts = partsOf(file, text);
  const whole = text.replace(/^-- step: (\S+)\n/gm, (_, name: string) => readSqlFile(join(ROOT, STEP_FOLDER, name)).text);
  const lines = new Map([...text.matchAll(KEY_LINE)].reverse().map(([, key = '', value = '']) => [key, value.trim()]));
  const line = (key: string): string | null => lines.get(key) ?? null;
  const list = (key: string): Relation[] => {
    const value = line(key);
    if (value === null) throw new Error(`${file}: header has no "-- ${key}:" line`);
    return value === 'none' ? [] : value.split(',').map((name) => name.trim() as Relation);
  };
  return {
    file,
    section: /^sql\/sections\/([^/]+)\//.exec(file)?.[1] ?? null,
    purpose: line('purpose') ?? '',
    reads: list('reads'),
    writes: list('writes'),
    scope: line('scope') === 'italy' ? 'italy' : 'region',
    regions: line('regions')?.split(',').map(Number) ?? null,
    incremental: incrementalOf(line('incremental'), file),
    version: line('version') === null ? null : Number(line('version')),
    reruns: line('reruns') === null ? [] : list('reruns'),
    parcels: line('parcels') === 'comune' ? 'comune' : 'one',
    cites: line('cites')?.split(',').map((id) => id.trim()) ?? [],
    facts: CITATIONS.test(text) ? partsOf(file, text.split(CITATIONS)[0] ?? '') : null,
    sweep: line('sweep'),
    text: whole,
    parts,
    // Computed at the first use, because most files are read without their digests.
    get sha256() {
      return hash ??= sha256(whole);
    },
    get digest() {
      return digest ??= digestOf(whole, normalSql);
    },
  };
}

/** Parses the value of a `-- incremental:` line; null if the file has no such line. @throws Error for any other text, which the architecture test finds */
export function incrementalOf(value: string | null, file: string): Incremental | null {
  if (value === null) return null;
  if (value === 'rows of parcels') return { by: 'parcels', vintagesOf: [] };
  if (value === 'content') return { by: 'content', parcels: 'all' };
  if (value === 'content, from the outline of the parcels') return { by: 'content', parcels: 'outline' };
  const features = /^rows of parcels without a change under the same feature of (layer\.[a-z_0-9]+(?:, layer\.[a-z_0-9]+)*)$/.exec(value)?.[1];
  if (features !== undefined) return { by: 'meeting', layers: features.split(', ') as Relation[] };
  const vintages = /^rows of parcels, with vintages of (layer\.[a-z_0-9]+(?:, layer\.[a-z_0-9]+)*)$/.exec(value)?.[1];
  if (vintages !== undefined) return { by: 'parcels', vintagesOf: vintages.split(', ') as Relation[] };
  const [, layers, within, column] = /^rows of (?:members of (layer\.[a-z_0-9]+(?:, layer\.[a-z_0-9]+)*)|parcels without a change (?:within ([1-9][0-9]{0,2}) m|of the same ([a-z_]+)))$/.exec(value) ?? [];
  if (layers !== undefined) return { by: 'members', layers: layers.split(', ') as Relation[] };
  if (within !== undefined) return { by: 'near', withinM: Number(within) };
  if (column !== undefined) return { by: 'sharing', column };
  throw new Error(`${file}: expected "-- incremental: rows of parcels", optionally followed by "without a change within <n> m" or "without a change of the same <column>" or `
    + `"without a change under the same feature of layer.<name>, …" or ", with vintages of layer.<name>, …", "-- incremental: rows of members of layer.<name>, …" or "-- incremental: content", optionally followed by "from the outline of the parcels", found "${value}"`);
}

/**
 * Reads the SQL files of a folder, sorted by name. Returns an empty array if the folder is missing.
 * @param named pattern that file names must match; by default all `.sql` files
 */
export function readSqlFolder(folder: string, named = /\.sql$/): SqlFile[] {
  const path = join(ROOT, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path).filter((name) => named.test(name)).sort().map((name) => readSqlFile(join(path, name)));
}

/** Folder that contains a folder for each section. */
export const SECTION_FOLDER = 'sql/sections';

/** Returns the names of the sections' folders. */
export function sectionFolders(): string[] {
  return readdirSync(join(ROOT, SECTION_FOLDER), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name).sort();
}

/**
 * Reads the SQL files of one kind in all sections, by section. `build.sql` builds the section's table, and `build_<name>.sql` builds another table of the
 * section. `record.sql` has the functions for the section's block and columns. The other kinds are `explain.sql`, `attribution.sql` and `checks.sql`.
 * Instead of `explain.sql`, a section may have the view `evidence` at the end of its `build.sql`.
 */
export function readSectionFiles(kind: 'build' | 'record' | 'explain' | 'attribution' | 'checks'): SqlFile[] {
  const named = new RegExp(`^${kind}(_[a-z0-9_]+)?\\.sql$`);
  const files = sectionFolders().flatMap((folder) => readSqlFolder(`${SECTION_FOLDER}/${folder}`, named));
  return kind === 'explain' ? [...files, ...readSectionFiles('build').flatMap((build) => evidenceOf(build) ?? [])] : files;
}

/** Reads all SQL files that build published tables. */
export function tableFiles(): SqlFile[] {
  return [...readSqlFolder('sql/core'), ...readSectionFiles('build')];
}

/**
 * Reads the SQL files that build the tables of a region. If two files build one table, the file for this region has priority.
 * @param region code of the region, or 0 for Italy
 */
export function tableFilesOf(region: number): SqlFile[] {
  const files = tableFiles().filter((file) => (file.scope === 'italy') === (region === 0));
  const named = new Set(files.filter(({ regions }) => regions?.includes(region)).map(({ writes }) => writes[0]));
  return files.filter(({ regions, writes }) => (regions === null ? !named.has(writes[0]) : regions.includes(region)));
}

/**
 * Returns the name under which the ledger stores a file that builds a table. The name depends on the table and not on the path, so that a table does not become
 * stale when a file is moved. The name is `sql/sections/<name>.sql` for the file `sql/sections/<section>/build.sql` that builds `section.<name>`.
 */
export function factName({ file, section, writes }: SqlFile): string {
  const [made] = writes;
  return section === null || made === undefined ? file : `${SECTION_FOLDER}/${tableOf(made)}.sql`;
}

/**
 * File of the compiled program with precomputed results about SQL texts: digests, and the functions that a text calls. The keys are hashes of the texts, so an
 * edited file has no stored result.
 */
export const DIGESTS_FILE = 'sql/digests.json';

const results = new Map<string, string>(IS_COMPILED ? Object.entries(JSON.parse(readFileSync(join(ROOT, DIGESTS_FILE), 'utf8')) as Record<string, string>) : []);

/** Returns the results for all SQL texts that this process used, sorted by key. The build writes these results to `DIGESTS_FILE`. */
export function computedDigests(): Readonly<Record<string, string>> {
  return Object.fromEntries([...results].sort());
}

/** Returns the stored result for a text, or computes and stores the result. @param question name of the result */
function once(question: string, text: string, compute: () => string): string {
  const key = sha256(`${question} ${text}`);
  const result = results.get(key) ?? compute();
  results.set(key, result);
  return result;
}

/** Returns the digest of a transformed text. */
function digestOf(text: string, form: (text: string) => string): string {
  return once(form.name, text, () => sha256(form(text)));
}

/** Files of `sql/functions`. Each process reads these files only once, because every file that builds a table is searched for calls of their functions. */
let read: readonly SqlFile[] | undefined;

/** Result of `calledFunctions` for each file. Stored, because every region uses the same files. */
const calls = new WeakMap<SqlFile, SqlFile[]>();

/**
 * Returns the files of `sql/functions` whose functions a file calls, directly or through other functions. A change of such a function may change the result of
 * the file.
 */
export function calledFunctions(file: SqlFile): SqlFile[] {
  const known = calls.get(file);
  if (known !== undefined) return known;
  const called = new Set<SqlFile>();
  const follow = (text: string): void => {
    for (const callee of functionsCalledIn(text)) {
      if (called.has(callee)) continue;
      called.add(callee);
      follow(callee.text);
    }
  };
  follow(file.text);
  calls.set(file, [...called]);
  return [...called];
}

/** Returns the files whose functions a text calls directly. */
function functionsCalledIn(text: string): SqlFile[] {
  const named = (read ??= readSqlFolder('sql/functions')).filter(({ writes }) => writes.some((name) => text.includes(tableOf(name))));
  if (named.length === 0) return [];
  const called = once(`calls of ${named.flatMap(({ writes }) => writes).join(' ')}`, text, () => {
    const words = ` ${effectiveSql(text)} `;
    return named.filter(({ writes }) => writes.some((name) => words.includes(` ${name.replace('.', ' . ')} ( `))).map(({ file }) => file).join(' ');
  }).split(' ');
  return named.filter(({ file }) => called.includes(file));
}

/** Returns the digest of a file without comments, layout, the statements `comment on …` and the word `unlogged`. */
export function effectiveDigest(file: SqlFile): string {
  return digestOf(file.text, effectiveSql);
}

/** Splits a file of checks into its named queries. @throws Error for a check without a `-- level:` or `-- expects:` line, which is a bug */
export function readChecks(file: SqlFile): Check[] {
  return file.text.split(/^-- check: */m).slice(1).map((part) => {
    const [name = '', ...lines] = part.split('\n');
    const body = lines.join('\n');
    const level = /^-- level: *(error|warn) *$/m.exec(body)?.[1];
    const expects = /^-- expects: *(.+)$/m.exec(body)?.[1];
    if (level === undefined || expects === undefined) throw new Error(`${file.file}: check ${name} needs "-- level:" and "-- expects:" lines`);
    return { name: name.trim(), level: level as Check['level'], expects, sql: body.replace(/;\s*$/, ''), file: file.file };
  });
}

/** Returns the name of a relation without its schema. */
export function tableOf(relation: Relation): string {
  return relation.slice(relation.indexOf('.') + 1);
}

export function schemaOf(relation: Relation): string {
  return relation.slice(0, relation.indexOf('.'));
}

/** Layers from which `core.parcel` is built, including layers that only the files for certain regions read. */
export const PARCEL_LAYERS: readonly Relation[] = [...new Set(
  tableFiles().filter(({ writes }) => writes[0] === 'core.parcel').flatMap(({ reads }) => reads.filter((read) => schemaOf(read) === 'layer')),
)];
