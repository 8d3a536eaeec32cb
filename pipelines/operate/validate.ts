/** Checks that files match the expected schema. Runs the same readers as a load, without a database. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { MappaleError } from '../errors.ts';
import { RowWriter } from '../formats/copy.ts';
import type { MemberFacts, MemberSink, Recognition, Reject, Sink } from '../contract/source.ts';
import { AddedColumns } from '../contract/added-columns.ts';
import { KeySet } from './key-set.ts';
import { maskTaxCode } from '../mask-tax-code.ts';
import { whyCut, type ReadMember } from '../readers/cut-export.ts';
import { NO_DATA } from '../readers/no-data.ts';
import { MalformedText, isMalformedRecord } from '../formats/malformed-text.ts';
import { ZipArchive, isZip } from '../formats/zip.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import type { LocatedFile } from '../contract/survey.ts';
import { locate } from '../ingest/locate.ts';
import { retyped, withWord } from '../typed.ts';
import { isUnfinished } from '../ingest/walk.ts';
import { labelOf, percent, readFile, TOLERATED, type Counts } from '../ingest/stage.ts';

export interface Finding {
  readonly level: 'error' | 'warn';
  readonly code: string;
  readonly message: string;
  /** Position of the finding, such as `file.zip!inner.csv:12`. */
  readonly at: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  /** Command that fixes the error. */
  readonly fix?: string | undefined;
  /** File, column and sample values of a `COLUMNS_ADDED` finding. Sample values are shown only on this machine. */
  readonly file?: string;
  readonly column?: string;
  readonly samples?: readonly string[];
}

/** Code of the finding that a file has an unknown column. Such a file can be loaded, but a user should check the column. */
export const COLUMNS_ADDED = 'COLUMNS_ADDED';

export interface FileVerdict extends Counts {
  readonly path: string;
  /** Source that reads the file; null if no source reads the file. */
  readonly source: string | null;
  readonly role: string | null;
  readonly vintage: string | null;
  /** False if the file has an error or an unknown column. */
  readonly ok: boolean;
  /** True if the check read only the first records. */
  readonly sampled: boolean;
  readonly findings: readonly Finding[];
}

/** Number of examples to keep per kind of reject. */
const EXAMPLES = 3;
/** Matches codes of rejects that show that the whole file is wrong, even if the file has few rejects. */
const SYSTEMATIC = /^(encoding|utf8|not_utf8|columns|header)/;

class SampleReached extends Error {}

/**
 * Validates files and folders.
 * @param sample number of records to read from each file, or null for all records
 * @returns a verdict for each file, without sidecars and copies of files. A file that no source recognises has a finding only if the file is an unfinished
 * download, or if the user named the file
 * @throws MappaleError `DATA_MISSING`, `DATA_EMPTY` (exit 2)
 */
export async function validate(
  paths: readonly string[], sources: readonly RegisteredSource[], sample: number | null, onFile: (verdict: FileVerdict) => void,
): Promise<FileVerdict[]> {
  const verdicts: FileVerdict[] = [];
  const add = (path: string, facts: Partial<FileVerdict>, findings: readonly Finding[]): void => {
    const verdict = {
      path, source: null, role: null, vintage: null, ok: findings.every(({ level, code }) => level !== 'error' && code !== COLUMNS_ADDED),
      records: 0, rows: 0, rejects: 0, duplicates: 0, sampled: false, findings, ...facts,
    };
    verdicts.push(verdict);
    onFile(verdict);
  };
  const survey = await locate(paths, sources, { get: () => undefined, set() {} });
  const named = new Set(paths.map(maskTaxCode));
  for (const { path, error } of survey.broken) add(path, {}, [findingOf(error, path)]);
  for (const { path, source, reason } of survey.aside) {
    const finding = { code: 'LEFT_ASIDE', message: `the file is known, but mappale does not read it: ${reason}`, at: basename(path) };
    // Reports an error for a file that the user named. For a file in a folder, reports only a warning, because the folder may also contain the file to use.
    add(path, { source }, [!named.has(path) ? { level: 'warn', ...finding } : {
      level: 'error', ...finding,
      detail: `expected a file that ${source} reads, found a file that ${source} skips`, hint: `To see the file to use: npx mappale sources ${source}.`,
    }]);
  }
  for (const path of survey.unknown) {
    if (isUnfinished(path)) {
      add(path, {}, [{
        level: 'error', code: 'FILE_UNFINISHED', message: 'the download is incomplete', at: basename(path), detail: 'expected a complete file, found an unfinished download',
        hint: 'Wait until the download ends, or download the file again.',
      }]);
      continue;
    }
    add(path, {}, !named.has(path) ? [] : [{
      level: 'error', code: 'FILE_UNKNOWN', message: 'no source reads this file', at: basename(path), detail: `expected a file of ${sources.map(({ id }) => id).join(', ')}`,
      hint: 'If a source should read the file, compare the first lines with the files in the source\'s fixture folder.',
    }]);
  }
  for (const { source, files } of survey.releases) {
    for (const file of files) {
      const { facts, findings } = await validateFile(source, file, sample);
      add(file.path, facts, findings);
    }
  }
  return verdicts.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Reads a file like a load, but writes nothing. */
async function validateFile(
  source: RegisteredSource, file: LocatedFile, sample: number | null,
): Promise<{ readonly facts: Partial<FileVerdict>; readonly findings: readonly Finding[] }> {
  const { role, vintage } = file.recognition;
  const sink = new ValidationSink(source, file.name, sample);
  const findings: Finding[] = [];
  let sampled = false;
  try {
    await readFile(source, file, sink);
  } catch (error) {
    if (error instanceof SampleReached) sampled = true;
    else if (error instanceof MappaleError) findings.push(findingOf(error, file.path));
    else throw error;
  }
  // Findings that need the whole file are left out if the file could not be read completely. After an error, added columns are left out too.
  const broken = findings.length > 0;
  const isWhole = !sampled && !broken;
  if (!broken) findings.push(...(await strayBytes(file)));
  findings.push(...sink.findings(isWhole ? 'whole' : 'part', file.recognition).filter(({ code }) => !broken || code !== COLUMNS_ADDED));
  const cut = isWhole ? await whyCut(file, sink.members) : null;
  if (cut !== null) findings.push(cutFinding(file.name, cut));
  const { records, rows, rejects, duplicates } = sink;
  return { facts: { source: source.id, role, vintage, records, rows, rejects, duplicates, sampled }, findings };
}

function findingOf(error: MappaleError, path: string): Finding {
  return { level: 'error', code: error.code, message: error.message, at: error.at ?? basename(path), detail: error.detail, hint: error.hint, ...(error.fix === undefined ? {} : { fix: error.fix }) };
}

/** Returns the finding for an export that may be incomplete. */
function cutFinding(name: string, detail: string): Finding {
  return {
    level: 'warn', code: 'EXPORT_MAY_BE_CUT', message: 'the export of a web service may be incomplete', at: name, detail,
    hint: 'Request the remaining features from the service (startIndex, resultOffset), or use the publisher\'s file. This file is loaded, but replaces no older file.',
  };
}

/** Reports bytes before or after a zip archive, such as a server message or a self-extracting program. Readers ignore these bytes. */
async function strayBytes({ path, name }: LocatedFile): Promise<Finding[]> {
  if (!(await isZip(path))) return [];
  const zip = await ZipArchive.open(path);
  await zip.close();
  return zip.strayBytes === 0 ? [] : [{
    level: 'warn', code: 'ZIP_STRAY_BYTES', message: `${zip.strayBytes} bytes before or after the zip archive`, at: name, detail: `expected only a zip archive, found ${zip.strayBytes} extra bytes`,
    hint: 'The archive is complete and is read. If a server added the bytes, download the file again.',
  }];
}

/** Rejects with the same code. */
interface Refusals {
  count: number;
  readonly examples: { readonly at: string; readonly message: string }[];
}

/** A sink for validation: counts records, keeps examples and finds repeated keys. Writes nothing. */
export class ValidationSink implements Sink {
  rejects = 0;
  duplicates = 0;
  records = 0;
  /** Members that the reader has read completely. */
  readonly members: ReadMember[] = [];
  readonly #source: RegisteredSource;
  readonly #name: string;
  readonly #sample: number | null;
  readonly #tables = new Map<string, { readonly writer: RowWriter; readonly texts: MalformedText; readonly keys: KeySet | null }>();
  readonly #malformedRejects: { readonly at: string; readonly message: string }[] = [];
  readonly #refusals = new Map<string, Refusals>();
  readonly #lost: Finding[] = [];
  readonly #aside: Finding[] = [];
  readonly #added = new AddedColumns();
  /** Label of the open member. */
  #label = '';

  constructor(source: RegisteredSource, name: string, sample: number | null) {
    this.#source = source;
    this.#name = name;
    this.#sample = sample;
    for (const [table, columns] of Object.entries(source.tables)) {
      const key = source.keys?.[table];
      const keys = key === undefined ? null : new KeySet(columns, key);
      const texts = new MalformedText(columns);
      const writer = new RowWriter(columns, (chunk) => {
        keys?.addRows(chunk, this.#label);
        texts.addRows(chunk, this.#label);
      });
      this.#tables.set(table, { writer, texts, keys });
    }
  }

  get rows(): number {
    return [...this.#tables.values()].reduce((sum, { writer }) => sum + writer.rows, 0);
  }

  async reuse(): Promise<boolean> {
    return false;
  }

  progress(): void {}

  aside(path: string, reason: string): void {
    this.#aside.push({ level: 'warn', code: 'LAYER_LEFT_ASIDE', message: `a layer is known, but mappale does not read it: ${reason}`, at: labelOf(this.#name, path) });
  }

  async member({ path }: MemberFacts): Promise<MemberSink> {
    this.#label = labelOf(this.#name, path);
    const label = this.#label;
    const before = this.#accounted();
    const writerOf = (table: string): RowWriter => {
      const found = this.#tables.get(table);
      if (found === undefined) throw new Error(`${this.#source.id}: unknown staging table ${table}`);
      return found.writer;
    };
    const stopAtSample = (): void => {
      if (this.#sample !== null && this.rows + this.rejects >= this.#sample) throw new SampleReached();
    };
    return {
      memberId: 0,
      writer: writerOf,
      row: (table, position, values) => {
        writerOf(table).row(position, values);
        stopAtSample();
      },
      reject: (reject) => {
        this.#reject(label, reject);
        stopAtSample();
      },
      duplicate: () => {
        this.duplicates += 1;
      },
      added: (column, sample) => this.#added.add(column, sample, label),
      drain: () => {
        stopAtSample();
        return undefined;
      },
      close: async (records) => {
        this.#flush();
        this.records += records;
        this.members.push({ path, records });
        const accounted = this.#accounted() - before;
        if (accounted === records) return;
        this.#lost.push({
          level: 'error', code: 'ACCOUNTING', message: 'the number of records is wrong', at: label,
          detail: `expected ${records} records = rows + rejects + duplicates, found ${accounted}`,
        });
      },
    };
  }

  /** Returns the findings about the file. @param extent `whole` if every record was read */
  findings(extent: 'whole' | 'part', { role, complete }: Recognition): Finding[] {
    this.#flush();
    const findings = [...this.#aside, ...this.#lost, ...this.#refused(), ...this.#encoding(), ...this.#columnsAdded()];
    for (const [table, { keys }] of this.#tables) {
      if (keys === null || keys.repeated === 0) continue;
      findings.push({
        level: 'warn', code: 'KEY_REPEATED', message: `${keys.repeated} rows of ${table} repeat the key (${(this.#source.keys?.[table] ?? []).join(', ')})`, at: keys.examples.join(', '),
        hint: 'Loading keeps one record per key. All other records count as duplicates, or as rejects if they differ.',
      });
    }
    if (extent === 'whole' && this.records === 0 && this.#lost.length === 0) {
      findings.push({
        level: 'error', code: 'FILE_EMPTY', message: 'the file contains no record', at: this.#name,
        detail: 'expected records, found none', hint: 'Download the file again and compare its size with the publisher\'s.',
      });
    }
    return extent === 'whole' && complete ? [...findings, ...this.#envelope(role)] : findings;
  }

  #columnsAdded(): Finding[] {
    return this.#added.list().map(({ column, samples, at }) => ({
      level: 'warn', code: COLUMNS_ADDED, message: `the file has a column that this version does not read: ${JSON.stringify(column)}`, at,
      detail: 'expected only known columns, found an additional column. The file is loaded without this column', hint: 'Check for a newer version of mappale, or report the column.',
      file: this.#name, column, samples,
    }));
  }

  /** Returns one finding per reject code. The level depends on the code and on the number of refused records. */
  #refused(): Finding[] {
    const seen = this.#accounted();
    const faults = this.rejects - (this.#refusals.get(NO_DATA)?.count ?? 0);
    const limit = this.#source.manifest.envelope.rejectShare;
    const tooMany = faults / Math.max(1, seen) > limit && faults > TOLERATED;
    const saidOf = (code: string, count: number): Pick<Finding, 'level' | 'detail' | 'hint'> => {
      const systematic = SYSTEMATIC.test(code);
      const level = tooMany || systematic || this.rows === 0 ? 'error' : 'warn';
      const hint = tooMany || this.rows === 0 ? 'Compare these records with the publisher\'s description.'
        : systematic ? 'The file was changed after the download. Use the downloaded file.'
          : 'Loading stores these records as rejects. To list rejects: npx mappale rejects';
      if (this.rows === 0) return { level, hint, detail: `expected usable records, found ${this.rejects} of ${seen} records refused` };
      if (code === NO_DATA) return { level, hint, detail: `expected a value or nothing, found the code for "no value" in ${count} of ${seen} records` };
      if (systematic) return { level, hint, detail: `expected no such record in a complete file, found ${count} of ${seen} records` };
      return { level, hint, detail: `expected at most ${TOLERATED} refused records or ${percent(limit)} of all records, found ${faults} of ${seen} (${percent(faults / Math.max(1, seen))})` };
    };
    return [...this.#refusals].map(([code, { count, examples }]) => ({
      ...saidOf(code, count), code, at: examples.map(({ at }) => at).join(', '),
      message: `${count} record${count === 1 ? '' : 's'} ${code === NO_DATA ? 'without a value' : 'refused'}: ${examples[0]?.message ?? ''}`,
    }));
  }

  /**
   * Returns findings about the encoding. Invalid bytes and lost letters are always an error. Publishers' files contain a few texts that were encoded twice,
   * such as `ForlÃ¬`. Such texts are an error only if a large share of the accented texts was encoded twice.
   */
  #encoding(): Finding[] {
    const message = 'the encoding of the text is not the publisher\'s encoding';
    const hint = 'Use the downloaded file. A program may change the encoding when it saves a file.';
    const [refused] = this.#malformedRejects;
    if (refused !== undefined) {
      return [{ level: 'error', code: 'ENCODING_WRONG', message, at: this.#malformedRejects.map(({ at }) => at).join(', '), detail: `expected valid text, found invalid bytes or characters; ${refused.message}`, hint }];
    }
    const all = [...this.#tables.values()].map(({ texts }) => texts);
    const odd = all.reduce((sum, texts) => sum + texts.odd, 0);
    if (odd === 0) return [];
    const seen = all.reduce((sum, texts) => sum + texts.seen, 0);
    const examples = all.flatMap((texts) => texts.examples).slice(0, EXAMPLES);
    const at = examples.map((example) => example.at).join(', ');
    const like = `${odd} of ${seen} non-ASCII texts such as ${JSON.stringify(examples[0]?.text.slice(0, 60))}`;
    if (all.some((texts) => texts.damaged || texts.throughout)) return [{ level: 'error', code: 'ENCODING_WRONG', message, at, detail: `expected UTF-8 encoded once, found ${like}`, hint }];
    return [{
      level: 'warn', code: 'ENCODED_TWICE', message: `${odd} text${odd === 1 ? ' was' : 's were'} encoded twice, and the others were not`, at, detail: `expected UTF-8 encoded once, found ${like}`,
      hint: 'A few such texts come from the publisher. These texts are kept unchanged, and a search finds the texts by the correct letters.',
    }];
  }

  /** Compares the number of records of a complete file with the range that the manifest expects. */
  #envelope(role: string): Finding[] {
    const { min = 0, max = Infinity } = this.#source.manifest.envelope.records?.[role] ?? {};
    if (this.records >= min && this.records <= max) return [];
    const few = this.records < min;
    return [{
      level: 'warn', code: 'ENVELOPE', message: `the publisher's complete file has ${few ? 'more' : 'fewer'} records`, at: this.#name, detail: `expected at ${few ? `least ${min}` : `most ${max}`}, found ${this.records}`,
      hint: few ? 'If the file is incomplete, download the file again. If the file contains only some places, rename the file. With this name, the file also replaces older files of other places.' : 'Compare the file with the publisher\'s file.',
    }];
  }

  #accounted(): number {
    return this.rows + this.rejects + this.duplicates;
  }

  #flush(): void {
    for (const { writer } of this.#tables.values()) writer.flush();
  }

  #reject(label: string, { code, position, message, raw }: Reject): void {
    this.rejects += 1;
    const example = { at: `${label}:${position}`, message };
    const kind = this.#refusals.get(code) ?? { count: 0, examples: [] };
    this.#refusals.set(code, kind);
    kind.count += 1;
    if (kind.examples.length < EXAMPLES) kind.examples.push(example);
    if (this.#malformedRejects.length < EXAMPLES && isMalformedRecord(raw)) this.#malformedRejects.push(example);
  }
}

/** Checks that a path from the user exists. @throws MappaleError `FILE_MISSING` (exit 2) */
export async function mustExist(path: string): Promise<void> {
  await stat(path).catch(() => {
    throw new MappaleError('the file does not exist', { code: 'FILE_MISSING', kind: 'usage', at: path, hint: 'Check the path.', fix: retyped(withWord(path, 'FILE'), 'npx mappale validate FILE') });
  });
}
