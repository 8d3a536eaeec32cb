/** Tests the catalogue of exports with independent RDF parsers. The catalogue must have the properties that DCAT-AP_IT, DCAT-AP HVD and STAC require. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import jsonld from 'jsonld';
import { Parser, type Quad } from 'n3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { main } from '../../cli/main.ts';
import { findRegion, type Region } from '../../pipelines/contract/regions.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { exportsIn, newestOf } from '../../pipelines/deliver/catalog/exports.ts';
import { catalogDocuments, highValueSources, type CatalogDocument } from '../../pipelines/deliver/catalog/index.ts';
import { stacItem } from '../../pipelines/deliver/stac.ts';

type Json = Record<string, unknown>;
type Link = { rel: string; href: string };

const FILES = 'https://data.example.org/exports/';
const API = 'https://maps.example.org/api/v2';
const PUBLISHER = { id: 'c_b519', name: 'Comune di Campobasso "città"' };

/** Properties that DCAT-AP_IT 1.0 requires, by class. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'http://dati.gov.it/onto/dcatapit#Catalog': ['dct:title', 'dct:description', 'dct:publisher', 'dct:modified', 'dcat:dataset'],
  'http://dati.gov.it/onto/dcatapit#Dataset': ['dct:identifier', 'dct:title', 'dct:description', 'dct:modified', 'dcat:theme', 'dct:rightsHolder', 'dct:accrualPeriodicity'],
  'http://dati.gov.it/onto/dcatapit#Distribution': ['dct:format', 'dcat:accessURL', 'dct:license'],
  'http://dati.gov.it/onto/dcatapit#LicenseDocument': ['dct:type', 'foaf:name'],
  'http://dati.gov.it/onto/dcatapit#Agent': ['dct:identifier', 'foaf:name'],
};
const NAMESPACES: Readonly<Record<string, string>> = { dct: 'http://purl.org/dc/terms/', dcat: 'http://www.w3.org/ns/dcat#', foaf: 'http://xmlns.com/foaf/0.1/', dcatap: 'http://data.europa.eu/r5r/' };
/** Runs `mappale catalog` in this process, and returns its exit code. */
async function run(...args: readonly string[]): Promise<number> {
  const output = [vi.spyOn(process.stdout, 'write').mockReturnValue(true), vi.spyOn(process.stderr, 'write').mockReturnValue(true)];
  try {
    await main(['node', 'mappale', 'catalog', ...args]);
    return Number(process.exitCode ?? 0);
  } finally {
    process.exitCode = undefined;
    for (const each of output) each.mockRestore();
  }
}

const full = (name: string): string => name.replace(/^(\w+):/, (_all, prefix: string) => NAMESPACES[prefix]!);
const REGULATION = 'http://data.europa.eu/eli/reg_impl/2023/138/oj';

describe('the catalogue of exports', () => {
  let folder: string;
  let documents: ReadonlyMap<string, CatalogDocument>;
  let quads: Quad[];
  let licensed: { attribution: string; holder: string; url: string; license: string }[];

  const objectsOf = (subject: string, predicate: string): string[] => quads
    .filter((quad) => quad.subject.value === subject && quad.predicate.value === full(predicate)).map(({ object }) => object.value);
  const subjectsOf = (type: string): string[] => quads.filter(({ predicate, object }) => predicate.value.endsWith('#type') && object.value === type).map(({ subject }) => subject.value);

  /** Writes a file and its STAC item as `export` does. @param cites number of cited sources */
  const write = async (name: string, region: Region, publication: { at: string; digest: string }, cites: number): Promise<void> => {
    await writeFile(join(folder, name), 'x'.repeat(20));
    await writeFile(join(folder, `${name}.stac.json`), stacItem({
      region, area: { kind: 'region' }, title: region.name, columns: [], parcels: 3, extent: [14, 41, 15, 42], publishedAt: publication.at, digest: publication.digest,
      licences: licensed.slice(0, cites).map((each) => ({ ...each, section: 'basic', source: 'x', reference_period: null })), createdBy: 'mappale 1', verbatim: false,
    }, { name, mediaType: 'application/vnd.apache.parquet', geometry: 'geometry', bytes: 20, sha256: 'ab'.repeat(32) }));
  };

  beforeAll(async () => {
    const sources = await loadSources();
    // Sources that the regulation does not list come first.
    licensed = sources.toSorted((a, b) => Number(a.manifest.highValue !== undefined) - Number(b.manifest.highValue !== undefined))
      .map(({ manifest: { attribution: { text, holder, url, license } } }) => ({ attribution: text, holder, url, license }));
    folder = await mkdtemp(join(tmpdir(), 'mappale-catalog-'));
    await write('molise.parquet', findRegion(14)!, { at: '2026-05-01T00:00:00Z', digest: 'b2' }, licensed.length);
    await write('molise.csv', findRegion(14)!, { at: '2026-05-01T00:00:00Z', digest: 'b2' }, licensed.length);
    await write('molise-old.parquet', findRegion(14)!, { at: '2026-01-01T00:00:00Z', digest: 'a1' }, 2);
    await write('friuli.parquet', findRegion(6)!, { at: '2026-02-01T00:00:00Z', digest: 'c3' }, 2);
    await write('gone.parquet', findRegion(10)!, { at: '2026-02-01T00:00:00Z', digest: 'd4' }, 2);
    await rm(join(folder, 'gone.parquet'));
    await write('cut.parquet', findRegion(10)!, { at: '2026-02-01T00:00:00Z', digest: 'd4' }, 2);
    await writeFile(join(folder, 'cut.parquet'), 'x');
    await writeFile(join(folder, 'other.stac.json'), '{}');
    const { exports } = await exportsIn(folder);
    documents = catalogDocuments({ base: `${API}/catalog`, files: FILES, api: API, publisher: PUBLISHER, exports, highValue: highValueSources(sources), today: '2026-06-01' });
    quads = new Parser({ format: 'text/turtle' }).parse(documents.get('dcat.ttl')!.text);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('lists only files that exist with the stated size', async () => {
    const { exports, skipped } = await exportsIn(folder);
    expect(exports.map(({ name }) => name)).toEqual(['molise.csv', 'molise.parquet', 'friuli.parquet', 'molise-old.parquet']);
    expect(skipped).toEqual(['cut.parquet.stac.json', 'gone.parquet.stac.json', 'other.stac.json']);
    expect([...newestOf(exports)].map(([name, files]) => [name, files.length])).toEqual([['mappale-molise', 2], ['mappale-friuli-venezia-giulia', 1]]);
  });

  it('has the same content in Turtle and in JSON-LD, without blank nodes', async () => {
    const nquads = await jsonld.toRDF(JSON.parse(documents.get('dcat.jsonld')!.text) as jsonld.JsonLdDocument, { format: 'application/n-quads' }) as unknown as string;
    const texts = (all: readonly Quad[]): string[] => all.map(({ subject, predicate, object }) => `${subject.value} ${predicate.value} ${object.id}`).sort();
    expect(texts(new Parser({ format: 'application/n-quads' }).parse(nquads))).toEqual(texts(quads));
    expect(quads.length).toBeGreaterThan(100);
    expect(quads.filter(({ subject, object }) => [subject, object].some(({ termType }) => termType === 'BlankNode'))).toEqual([]);
  });

  it('has every property that DCAT-AP_IT requires, and describes each named resource', () => {
    for (const [type, names] of Object.entries(REQUIRED)) {
      const subjects = subjectsOf(type);
      expect(subjects.length, type).toBeGreaterThan(0);
      const missing = subjects.flatMap((subject) => names.filter((name) => objectsOf(subject, name).length === 0).map((name) => `${subject} ${name}`));
      expect(missing, type).toEqual([]);
    }
    const own = quads.map(({ object }) => object.value).filter((value) => value.startsWith(`${API}/catalog#`));
    const described = new Set(quads.map(({ subject }) => subject.value));
    expect(own.filter((value) => !described.has(value))).toEqual([]);
    expect(objectsOf(`${API}/catalog#c_b519`, 'foaf:name')).toEqual([PUBLISHER.name]);
  });

  it('has the properties of high-value datasets and their reason only if a cited source is in the annex of the regulation', () => {
    const [molise, friuli] = ['mappale-molise', 'mappale-friuli-venezia-giulia'].map((name) => `${API}/catalog#${name}`) as [string, string];
    expect(objectsOf(molise, 'dcatap:applicableLegislation')).toEqual([REGULATION]);
    expect(objectsOf(molise, 'dcatap:hvdCategory').sort()).toEqual(['http://data.europa.eu/bna/c_ac64a52d', 'http://data.europa.eu/bna/c_dd313021']);
    expect(objectsOf(`${API}/catalog#molise.csv`, 'dcatap:applicableLegislation')).toEqual([REGULATION]);
    for (const iri of objectsOf(molise, 'dct:provenance')) expect(quads.some(({ subject, object }) => subject.value === iri && /annex: \d/.test(object.value))).toBe(true);
    for (const iri of [friuli, `${API}/catalog#friuli.parquet`, `${API}/catalog#parcels`]) {
      expect([iri, objectsOf(iri, 'dcatap:applicableLegislation'), objectsOf(iri, 'dcatap:hvdCategory')]).toEqual([iri, [], []]);
    }
  });

  it('links the STAC catalogue, a collection for each region, an item for each file, and the newest item', () => {
    const read = (path: string): Json => JSON.parse(documents.get(path)!.text) as Json;
    const reached = new Set<string>();
    const follow = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const { rel, href } of read(path)['links'] as Link[]) if (rel !== 'license') follow(posix.join(posix.dirname(path), href));
    };
    follow('stac/catalog.json');
    expect([...documents.keys()].filter((path) => path.startsWith('stac/')).sort()).toEqual([...reached].sort());
    expect(read('stac/molise/latest.json')).toMatchObject({ type: 'Feature', stac_version: '1.1.0', collection: 'molise', properties: { datetime: '2026-05-01T00:00:00Z' } });
    expect(read('stac/molise/molise.parquet.json')).toMatchObject({ assets: { data: { href: `${FILES}molise.parquet`, 'file:size': 20 } } });
    expect(read('stac/molise/collection.json')).toMatchObject({
      type: 'Collection', id: 'molise', license: 'other', extent: { spatial: { bbox: [[14, 41, 15, 42]] }, temporal: { interval: [['2026-01-01T00:00:00Z', '2026-05-01T00:00:00Z']] } },
    });
    const ids = [...documents].filter(([path]) => /^stac\/\w.*\/(?!latest|collection)/.test(path)).map(([path]) => read(path)['id']);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is written into a folder by the command, which exits with 2 if the exports do not exist or the URL is invalid', async () => {
    const out = join(folder, 'catalog');
    expect(await run('--exports', folder, '--out', out, '--url', FILES, '--json')).toBe(0);
    expect((await readdir(out)).sort()).toEqual(['dcat.jsonld', 'dcat.ttl', 'stac']);
    expect(new Parser().parse(await readFile(join(out, 'dcat.ttl'), 'utf8')).length).toBeGreaterThan(80);
    expect(JSON.parse(await readFile(join(out, 'stac/catalog.json'), 'utf8'))).toMatchObject({ type: 'Catalog' });
    expect(await run('--exports', join(folder, 'nowhere'), '--out', out)).toBe(2);
    expect(await run('--exports', folder, '--out', out, '--url', 'ftp://x')).toBe(2);
  });
});
