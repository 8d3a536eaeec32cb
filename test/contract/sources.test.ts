/** Tests every folder under sources/ against the requirements of a source. No source needs to be listed by hand. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT } from '../../pipelines/config.ts';
import { makeRegion, REGION_CODES } from '../../pipelines/synthetic/make-region.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { checksOf } from '../../pipelines/db/source-checks.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { tableOf } from '../../pipelines/contract/sql-files.ts';
import type { Survey } from '../../pipelines/contract/survey.ts';
import { isZip, ZipArchive } from '../../pipelines/formats/zip.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { collect } from '../harness/collect.ts';
import { validate } from '../../pipelines/operate/validate.ts';

const manifestSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9]+(_[a-z0-9]+)+$/),
  version: z.int().min(1),
  title: z.string().min(5),
  italianTitle: z.string().min(5),
  attribution: z.strictObject({
    holder: z.string().min(2),
    license: z.string().min(2),
    url: z.url(),
    text: z.string().min(5),
    mandatory: z.boolean().optional(),
  }),
  vintageRule: z.string().min(10),
  downloads: z.array(z.strictObject({ url: z.string().min(5), note: z.string().min(3) })).min(1),
  cadence: z.string().min(3),
  crs: z.string().nullable(),
  keep: z.enum(['newest', 'all']),
  reference: z.boolean().optional(),
  ignored: z.record(z.string(), z.string().min(3)),
  optional: z.record(z.string(), z.string().min(3)).optional(),
  envelope: z.strictObject({
    records: z.record(z.string(), z.strictObject({ min: z.number().optional(), max: z.number().optional() })).optional(),
    rejectShare: z.number().min(0).max(1),
  }),
  highValue: z.strictObject({ category: z.enum(['geospatial', 'environment']), entry: z.string().regex(/^\d, [a-z ]+: [a-z ]+/) }).optional(),
  layers: z.array(z.string()).min(1),
});

const sources = await loadSources();
/** Synthetic regions of both kinds. In a region with provincial land registers, the sources of the registers write files, and the cadastre writes no file. */
const regions = REGION_CODES.map((code) => makeRegion({ parcels: 600, seed: 11, region: code }));
const folder = mkdtempSync(join(tmpdir(), 'mappale-contract-'));

async function writeAll(into: string): Promise<void> {
  for (const region of regions) {
    const own = join(into, String(region.code));
    mkdirSync(own);
    for (const { id } of sources) await (await loadSynthetic(id)).write(region, own);
  }
}

let survey: Survey;
beforeAll(async () => {
  await writeAll(folder);
  survey = await locate([folder], sources, { get: () => undefined, set() {} });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the registry lists every folder under sources as a source', () => {
  const folders = readdirSync(join(ROOT, 'sources'), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(sources.map(({ id }) => id)).toEqual(folders.sort());
});

describe.each(sources.map((source) => [source.id, source] as const))('source %s', (_id, source) => {
  const path = (name: string): string => join(ROOT, source.folder, name);

  it('has a manifest that matches the schema and can be written as JSON', () => {
    expect(manifestSchema.parse(JSON.parse(JSON.stringify(source.manifest)))).toEqual(JSON.parse(JSON.stringify(source.manifest)));
  });

  it('has every file that a source needs', () => {
    for (const name of ['source.ts', 'load.sql', 'notes.md', 'synthetic.ts', 'fixture', `golden/${source.id}.json`]) {
      expect(existsSync(path(name)), `${source.folder}/${name}`).toBe(true);
    }
    expect(readdirSync(path('fixture')).length).toBeGreaterThan(0);
  });

  it('declares only layers that it creates, each partitioned by release and with a comment on every column', () => {
    const made = source.layer.writes.map(tableOf);
    for (const layer of source.manifest.layers) expect(made).toContain(layer);
    for (const layer of made) {
      const body = new RegExp(`create table layer\\.${layer} \\(([\\s\\S]*?)\\n\\) partition by list \\(release_id\\)`).exec(source.layer.text)?.[1];
      expect(body, `layer.${layer}`).toBeDefined();
      const columns = body!.split('\n').map((line) => /^\s+([a-z0-9_]+) /.exec(line)?.[1]).filter((name) => name !== undefined);
      expect(columns).toEqual(['release_id', 'member_id', 'position', ...Object.keys(source.layers[layer]!.columns)]);
      for (const object of [`table layer.${layer}`, ...columns.map((column) => `column layer.${layer}.${column}`)]) {
        expect(new RegExp(`^comment on ${object} is '(.{4,})';$`, 'm').exec(source.layer.text)?.[1], object).toBeDefined();
      }
    }
  });

  it('loads exactly the layers that it declares, and has checks', () => {
    const made = source.load.writes.filter((relation) => relation.startsWith('layer.'));
    expect([...made].sort()).toEqual([...source.layer.writes].sort());
    expect(checksOf(source).length).toBeGreaterThan(0);
  });

  it('has keys that consist of staged columns only', () => {
    for (const [table, key] of Object.entries(source.keys ?? {})) {
      expect(Object.keys(source.tables)).toContain(table);
      for (const column of key) expect(Object.keys(source.tables[table]!)).toContain(column);
    }
  });

  it('recognises its own synthetic files, which no other source recognises', () => {
    const mine = survey.releases.filter((release) => release.source.id === source.id);
    expect(mine.length).toBeGreaterThan(0);
    expect(survey.broken).toEqual([]);
  });

  it('reads its synthetic files to the last record, with the same result every time', async () => {
    const paths = survey.releases.filter((release) => release.source.id === source.id).flatMap(({ files }) => files.map((file) => file.path));
    const read = async (): Promise<unknown> => (await validate(paths, [source], null, () => undefined)).map(({ path: _path, ...verdict }) => verdict);
    const first = (await read()) as { ok: boolean; records: number; findings: unknown }[];
    for (const verdict of first) expect(verdict.records).toBeGreaterThan(0);
    for (const verdict of first) expect(verdict.findings).not.toContainEqual(expect.objectContaining({ code: 'ACCOUNTING' }));
    expect(await read()).toEqual(first);
  });

  it('reports the number of bytes read, which never decreases and ends above 75 % of the compressed content', async () => {
    const { files } = survey.releases.find((release) => release.source.id === source.id)!;
    for (const { path: file, name, size, recognition: { role, vintage, region } } of files) {
      const { progress } = await collect(source, file, { role, vintage, region, chunkBytes: 1000 });
      expect(progress, name).toEqual([...progress].sort((a, b) => a - b));
      const zip = (await isZip(file)) ? await ZipArchive.open(file) : null;
      const packed = zip?.entries.reduce((sum, { compressedSize }) => sum + compressedSize, 0) ?? size;
      await zip?.close();
      // Files may contain some entries or layers that are not read.
      expect(progress.at(-1), name).toBeGreaterThan(0.75 * packed);
      expect(progress.at(-1), name).toBeLessThanOrEqual(size);
    }
  });

  it('has notes of more than 400 characters', () => {
    expect(readFileSync(path('notes.md'), 'utf8').length).toBeGreaterThan(400);
  });
});

it('every synthetic file is recognised by one of the sources', () => {
  expect(survey.unknown).toEqual([]);
});

it('the synthetic region has the same bytes for the same parameters', async () => {
  const again = mkdtempSync(join(tmpdir(), 'mappale-contract-'));
  try {
    await writeAll(again);
    const list = (root: string): string[] =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
        .sort();
    expect(list(again)).toEqual(list(folder));
    for (const name of list(again)) expect(readFileSync(join(again, name)).equals(readFileSync(join(folder, name))), name).toBe(true);
  } finally {
    rmSync(again, { recursive: true, force: true });
  }
});
