/** Tests columns that a publisher adds. The file is loaded as before, and every report names the column until a version of the reader supports the column. */
import { once } from 'node:events';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { regionPage } from '../../api/report/pages.ts';
import { describe as describeReport } from '../../cli/refresh-report.ts';
import { describe as describeStatus, readStatus } from '../../cli/status.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { digestOfFacts } from '../../pipelines/contract/fingerprint.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { openDatabase } from '../../pipelines/db/index.ts';
import { one } from '../../pipelines/db/types.ts';
import { SILENT } from '../../pipelines/log.ts';
import { describeState, STATE_STATEMENT, writeMetrics, type PublishedState } from '../../pipelines/operate/metrics.ts';
import { readRegionReport } from '../../pipelines/operate/region-report.ts';
import { describeNight, runNight, type NightlyRun } from '../../pipelines/operate/watch.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { exitCodeOf, refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';
import { contentOf } from '../harness/arrival.ts';

const MOLISE = findRegion(14)!;
const { seed } = testEnvironment();
const ONLY = ['ade_cadastre', 'anncsu_addresses', 'dpc_buildings', 'dpc_seismic', 'istat_boundaries', 'istat_comuni', 'istat_soppressi', 'mim_schools', 'mimit_fuel', 'postal_codes', 'salute_pharmacies'];
/**
 * Text files of the region. Each has a delimiter, a number of lines before the header, and a number of possible positions for a new column, from the first
 * column on. Names of fuel stations, in column 5, may contain the delimiter, so a new column in that file comes before the names.
 */
const TEXTS = [
  { source: 'mimit_fuel', file: /^anagrafica_impianti/, delimiter: '|', before: 1, positions: 5 },
  { source: 'mim_schools', file: /^SCUANAGRAFESTAT20252620/, delimiter: ',', before: 0, positions: 12 },
  { source: 'dpc_seismic', file: /^classificazione-sismica/, delimiter: ';', before: 0, positions: 7 },
] as const;
/** Pattern of tax codes. The tests use invented codes in this form. */
const TAX_CODE = /^[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]$/;

/** A column to add, with its name, its position and the content of its values. */
interface Added {
  readonly column: string;
  /** Position among the columns, between 0 and 1. */
  readonly place: number;
  /** Word that every value of the column contains. The test searches for the word. */
  readonly word: string;
  readonly taxCode: string;
}

function insert<T>(all: readonly T[], item: T, place: number): T[] {
  const at = Math.floor(place * (all.length + 1));
  return [...all.slice(0, at), item, ...all.slice(at)];
}

/** Returns the fields of a line as they are in the file, with quotes. */
function fieldsOf(line: string, delimiter: string): string[] {
  const fields: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at <= line.length; at += 1) {
    if (line[at] === '"' && (isQuoted || at === start)) isQuoted = !isQuoted;
    if (at < line.length && (isQuoted || line[at] !== delimiter)) continue;
    fields.push(line.slice(start, at));
    start = at + 1;
  }
  return fields;
}

/** @param row number of the record, from 0 */
function valueOf({ word, taxCode }: Added, row: number): string {
  return row === 0 ? `${word} ${taxCode}` : `${word}${row % 5}`;
}

function withTextColumn(text: string, { delimiter, before, positions }: (typeof TEXTS)[number], added: Added): string {
  const at = Math.floor(added.place * positions);
  return text.split('\n').map((line, number) => {
    if (number < before || line.trim() === '') return line;
    const end = line.endsWith('\r') ? '\r' : '';
    const value = number === before ? added.column : valueOf(added, number - before - 1);
    const fields = fieldsOf(line.slice(0, line.length - end.length), delimiter);
    return [...fields.slice(0, at), value, ...fields.slice(at)].join(delimiter) + end;
  }).join('\n');
}

/** Returns a dBASE table with an additional text field. */
function withTableField(table: Buffer, added: Added): Buffer {
  const width = 40;
  const [headerSize, recordSize] = [table.readUInt16LE(8), table.readUInt16LE(10)];
  const fields: Buffer[] = [];
  for (let at = 32; table[at] !== 0x0d; at += 32) fields.push(table.subarray(at, at + 32));
  const field = Buffer.alloc(32);
  field.write(added.column, 0, 'latin1');
  field.write('C', 11, 'latin1');
  field[16] = width;
  const header = Buffer.from(table.subarray(0, 32));
  header.writeUInt16LE(headerSize + 32, 8);
  header.writeUInt16LE(recordSize + width, 10);
  const records: Buffer[] = [];
  for (let at = headerSize; at + recordSize <= table.length; at += recordSize) {
    let from = at + 1;
    const values = fields.map((each) => table.subarray(from, from += each[16]!));
    const value = Buffer.from(valueOf(added, records.length).padEnd(width), 'latin1');
    records.push(Buffer.concat([table.subarray(at, at + 1), ...insert(values, value, added.place)]));
  }
  return Buffer.concat([header, ...insert(fields, field, added.place), table.subarray(32 + fields.length * 32, headerSize), ...records, Buffer.from([0x1a])]);
}

function withProperty(text: string, added: Added): string {
  const parsed = JSON.parse(text) as { features: { properties: Record<string, unknown> }[] };
  return JSON.stringify({
    ...parsed,
    features: parsed.features.map((feature, row) => (
      { ...feature, properties: Object.fromEntries(insert(Object.entries(feature.properties), [added.column, valueOf(added, row)], added.place)) }
    )),
  });
}

describeDatabase('a file with an added column', (engine) => {
  let made: Awaited<ReturnType<typeof syntheticFiles>>;
  let folder: string;
  let plain: Record<string, string>;
  let random: ReturnType<typeof randomOf>;

  const load = (context: Context): Promise<RefreshReport> => refresh(context, loadOptions([folder], [MOLISE.code], { command: 'refresh' }));
  const content = ({ database }: Context): Promise<Record<string, string>> => contentOf(database, [0, MOLISE.code]);
  const letters = (count: number): string => Array.from({ length: count }, () => String.fromCharCode(65 + random.below(26))).join('');
  const digits = (count: number): string => Array.from({ length: count }, () => random.below(10)).join('');
  const draw = (): Added => ({
    column: `X${letters(7)}`, place: random.next(), word: `made${letters(6).toLowerCase()}`,
    taxCode: `${letters(6)}${digits(2)}${letters(1)}${digits(2)}${letters(1)}${digits(3)}${letters(1)}`,
  });
  const fileLike = async (pattern: RegExp): Promise<string> => (await readdir(folder)).find((name) => pattern.test(name))!;
  const edit = async (name: string, change: (text: string) => string): Promise<void> => {
    const path = join(folder, name);
    await writeFile(path, Buffer.from(change((await readFile(path)).toString('latin1')), 'latin1'));
  };
  const metricsOf = async ({ database }: Context): Promise<string> => {
    const { state } = await one<{ state: PublishedState }>(database, STATE_STATEMENT);
    return describeState(state, 'now');
  };
  const warningsIn = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('mappale_schema_warnings{')).sort();
  const named = ({ warnings }: Pick<RefreshReport, 'warnings'>): (readonly [string, string, string])[] => warnings.map(({ source, file, column }) => [source, file, column ?? ''] as const).sort();

  beforeAll(async () => {
    made = await syntheticFiles(120, 6, { comuni: 3, only: ONLY });
    const context = await freshContext(engine);
    folder = made.folder;
    const report = await load(context);
    expect([exitCodeOf(report), report.warnings]).toEqual([0, []]);
    expect(warningsIn(await metricsOf(context))).toEqual([]);
    plain = await content(context);
  });
  afterAll(() => made?.remove());
  beforeEach(async ({ task, onTestFinished }) => {
    random = randomOf(`added ${task.name}`, seed);
    folder = await mkdtemp(join(tmpdir(), 'mappale-added-'));
    await cp(made.folder, folder, { recursive: true });
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
  });

  /** Adds a column to one text file and to one vector file, both chosen at random. */
  async function addToTwo(): Promise<{ readonly source: string; readonly file: string; readonly added: Added }[]> {
    const text = random.pick(TEXTS);
    const textFile = await fileLike(text.file);
    const inText = draw();
    await edit(textFile, (content) => withTextColumn(content, text, inText));
    const inVector = draw();
    const vector = random.pick(['dpc_buildings', 'postal_codes'] as const);
    const vectorFile = await fileLike(vector === 'postal_codes' ? /^zone_cap_.*\.geojson$/ : /^aggregati_strutturali\.zip$/);
    if (vector === 'postal_codes') await edit(vectorFile, (content) => withProperty(content, inVector));
    else await rewriteZip(join(folder, vectorFile), (name, bytes) => (/\.dbf$/i.test(name) ? withTableField(bytes, inVector) : bytes));
    console.log(`added columns, seed ${seed}: ${inText.column} in ${textFile}, ${inVector.column} in ${vectorFile}`);
    return [{ source: text.source, file: textFile, added: inText }, { source: vector, file: vectorFile, added: inVector }];
  }

  it(`publishes the same content and names the added column in every report, seed ${seed}`, async () => {
    const files = await addToTwo();
    const context = await freshContext(engine);
    const report = await load(context);
    expect([exitCodeOf(report), report.failures, report.leftOut]).toEqual([0, [], []]);
    expect(await content(context)).toEqual(plain);

    const expected = files.map(({ source, file, added }) => [source, file, added.column] as const).sort();
    const status = await readStatus(context);
    const again = await load(context);
    expect([again.runId, exitCodeOf(again)]).toEqual([null, 0]);
    for (const each of [report, status, again]) expect(named(each)).toEqual(expected);
    expect(JSON.parse(JSON.stringify(report))).toMatchObject({ warnings: report.warnings.map(() => ({ code: 'COLUMNS_ADDED' })) });

    const region = await readRegionReport(context, MOLISE);
    const shown = [describeReport(report), describeReport(again), describeStatus(status), JSON.stringify(report), JSON.stringify(status)];
    const metrics = await metricsOf(context);
    await writeMetrics(context.database, join(folder, '.mappale.prom'), 0);
    const withoutValues = [metrics, await readFile(join(folder, '.mappale.prom'), 'utf8'), JSON.stringify(region), regionPage(region, [])];
    for (const { source, file, added: { column, word, taxCode } } of files) {
      expect(taxCode).toMatch(TAX_CODE);
      const { samples } = report.warnings.find((warning) => warning.column === column)!;
      expect(samples.length).toBeGreaterThan(0);
      expect(samples.length).toBeLessThanOrEqual(3);
      expect(samples[0]).toBe(`${word} ***`);
      for (const text of shown) expect([text.includes(column), text.includes(word), text.includes(taxCode)]).toEqual([true, true, false]);
      for (const text of withoutValues) expect([text.includes(word), text.includes(taxCode)]).toEqual([false, false]);
      for (const text of shown.slice(0, 3)) expect(text.split('\n').filter((line) => line.startsWith(`COLUMNS_ADDED ${file}: ${column} (`))).toHaveLength(1);
      expect(warningsIn(metrics)).toContain(`mappale_schema_warnings{source="${source}",region="molise"} 1`);
      expect(region.added_columns).toContainEqual(expect.objectContaining({ source, file, columns: [column] }));
      expect(regionPage(region, [])).toContain(column);
    }
    expect(warningsIn(withoutValues[1]!)).toEqual(warningsIn(metrics));
  });

  it(`names the added column in the line of watch and, without its values, in the webhook, seed ${seed}`, async () => {
    const files = await addToTwo();
    const context = await freshContext(engine);
    const reported: string[] = [];
    const hook = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk)).on('end', () => {
        reported.push(body);
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(hook, 'listening');
    const night = (): Promise<NightlyRun> => runNight(
      { sources: [], settings: () => ({ url: 'http://127.0.0.1:1/', login: null, token: null }), log: SILENT, open: (work) => work(context) },
      { regions: [MOLISE], data: [folder], parallel: 2, metrics: null, webhookPrivate: false, keep: null, webhook: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/` },
    );
    try {
      for (const line of [await night(), await night()]) {
        expect(line.exit_code).toBe(0);
        expect(line.warnings.map(({ code, source, file, columns }) => [code, source, file, columns]).sort())
          .toEqual(files.map(({ source, file, added }) => ['COLUMNS_ADDED', source, file, [added.column]]).sort());
        for (const { file, added } of files) expect(describeNight(line)).toContain(`COLUMNS_ADDED ${file}: ${added.column}`);
      }
      expect(reported).toHaveLength(2);
      for (const { added: { column, word, taxCode } } of files) {
        for (const body of reported) expect([body.includes(column), body.includes(word), body.includes(taxCode)]).toEqual([true, false, false]);
      }
    } finally {
      hook.closeAllConnections();
      hook.close();
    }
  });

  it(`names the added column even if its zip entry is reused from an earlier release, until the reader supports the column, seed ${seed}`, async () => {
    const added = draw();
    const file = await fileLike(/^MOLISE\.zip$/);
    const element = (row: number): string => `<CP:${added.column}>${valueOf(added, row)}</CP:${added.column}>`;
    let changed = '';
    await rewriteZip(join(folder, file), (path, content) => {
      if (!/_ple\.gml$/.test(path) || changed !== '') return content;
      changed = path;
      let row = 0;
      return Buffer.from(content.toString('utf8').replace(/<\/CP:CadastralParcel>/g, (end) => `${element(row++)}${end}`), 'utf8');
    });
    console.log(`added columns, seed ${seed}: ${added.column} in ${changed}`);
    const url = await engine.createDatabase();
    const context = await contextOn(await openDatabase(url));
    const first = await load(context);
    expect([exitCodeOf(first), named(first)]).toEqual([0, [['ade_cadastre', file, added.column]]]);
    expect(await content(context)).toEqual(plain);

    // All other members with parcels change, so the member with the added column is reused from the first release.
    await rewriteZip(join(folder, file), (path, content) => (
      path !== changed && /_ple\.gml$/.test(path) ? Buffer.concat([content, Buffer.from('\n')]) : content
    ));
    const second = await load(context);
    expect([exitCodeOf(second), named(second)]).toEqual([0, [['ade_cadastre', file, added.column]]]);
    expect(second.loaded.map(({ source }) => source)).toEqual(['ade_cadastre']);
    const taken = await context.database.query(
      `select a.name from ledger.added_column a join ledger.member m using (member_id)
       where m.release_id = $1 and m.taken_from is not null`, [second.loaded[0]!.release],
    );
    expect(taken).toEqual([{ name: added.column }]);
    await context.database.close();

    const knowing = (await loadSources()).map((source): RegisteredSource => {
      if (source.id !== 'ade_cadastre') return source;
      const facts = { ...source.facts, [`version of ${source.id}`]: `${source.manifest.version}.made` };
      return {
        ...source, facts, reader: digestOfFacts(facts),
        read: (from, sink) => source.read(from, {
          member: async (member) => ({ ...await sink.member(member), added: () => undefined }),
          reuse: (member) => sink.reuse(member),
          progress: (bytes) => sink.progress(bytes),
        }),
      };
    });
    const later = await contextOn(await openDatabase(url), knowing);
    const third = await load(later);
    expect(third.loaded.map(({ source }) => source)).toEqual(['ade_cadastre']);
    expect([exitCodeOf(third), named(third), named(await readStatus(later)), warningsIn(await metricsOf(later))]).toEqual([0, [], [], []]);
    expect(await content(later)).toEqual(plain);
  });
});
