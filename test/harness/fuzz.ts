/**
 * Tests the reader of each source with mutated files. A reader must either account for all records, or stop with an input error that has a location, a detail
 * and a hint. Everything else (a TypeError, lost records, a hang) is a bug in the reader.
 */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import type { Random } from '../../pipelines/synthetic/region.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { writeOwn } from '../../pipelines/synthetic/synthetic.ts';
import { validate } from '../../pipelines/operate/validate.ts';
import { testEnvironment } from './environment.ts';

const { mutations: CASES, seed: SEED } = testEnvironment();
/** Largest size in bytes of a file to mutate. The limit keeps each case fast. */
const LARGEST = 60_000;
/** Largest CPU time in ms for a mutated file. If a reader hangs, the timeout of the test ends the test. */
const SLOWEST_MS = 10_000;

const sources = await loadSources();

// --- mutations -----------------------------------------------------------------------------------------------------

type Mutation = (bytes: Buffer, random: Random) => Buffer;

const spliced = (bytes: Buffer, at: number, remove: number, insert: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(Math.min(bytes.length, at + remove))]);
const anywhere = (bytes: Buffer, random: Random): number => random.below(Math.max(1, bytes.length));

/** Returns the start and end of the line at a byte position, including the line end. */
function lineAt(bytes: Buffer, at: number): readonly [number, number] {
  const start = at === 0 ? 0 : bytes.lastIndexOf(0x0a, at - 1) + 1;
  const end = bytes.indexOf(0x0a, at);
  return [start, end === -1 ? bytes.length : end + 1];
}

const SPECIAL = [0x00, 0x0a, 0x0d, 0x22, 0x27, 0x2c, 0x2d, 0x3b, 0x3c, 0x3e, 0x26, 0x80, 0xc3, 0xff];
const TOKENS = ['', '-1', '0', '999999999999999999999', '1e309', 'NaN', '-0', '"', '""', '\u0000', ';;;;', '<a>', ']]>', '&#0;', '\ud7ff', '9'.repeat(400), ' ', '31/02/2020', 'null', '[]'];
const SEPARATORS = [0x3b, 0x2c, 0x09, 0x7c];

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'bit flipped': (bytes, random) => {
    const copy = Buffer.from(bytes);
    for (let i = 0; i <= random.below(4); i += 1) copy[anywhere(copy, random)]! ^= 1 << random.below(8);
    return copy;
  },
  'byte replaced': (bytes, random) => spliced(bytes, anywhere(bytes, random), 1, Buffer.from([random.below(2) === 0 ? random.below(256) : random.pick(SPECIAL)])),
  'bytes deleted': (bytes, random) => spliced(bytes, anywhere(bytes, random), 1 + random.below(random.below(3) === 0 ? 200 : 4), Buffer.alloc(0)),
  'bytes inserted': (bytes, random) => spliced(bytes, anywhere(bytes, random), 0, Buffer.from(Array.from({ length: 1 + random.below(6) }, () => random.pick(SPECIAL)))),
  'cut short': (bytes, random) => bytes.subarray(0, anywhere(bytes, random)),
  'beginning lost': (bytes, random) => bytes.subarray(random.below(Math.min(bytes.length, 300))),
  'line twice': (bytes, random) => {
    const [start, end] = lineAt(bytes, anywhere(bytes, random));
    return spliced(bytes, end, 0, bytes.subarray(start, end));
  },
  'line lost': (bytes, random) => {
    const [start, end] = lineAt(bytes, anywhere(bytes, random));
    return spliced(bytes, start, end - start, Buffer.alloc(0));
  },
  'lines swapped': (bytes, random) => {
    const [a, b] = [lineAt(bytes, anywhere(bytes, random)), lineAt(bytes, anywhere(bytes, random))].sort((x, y) => x[0] - y[0]) as [
      readonly [number, number],
      readonly [number, number],
    ];
    if (a[0] === b[0]) return bytes;
    return Buffer.concat([bytes.subarray(0, a[0]), bytes.subarray(...b), bytes.subarray(a[1], b[0]), bytes.subarray(...a), bytes.subarray(b[1])]);
  },
  'fields swapped': (bytes, random) => {
    const [start, end] = lineAt(bytes, anywhere(bytes, random));
    const line = bytes.toString('latin1', start, end);
    const separator = [';', ',', '\t', ' '].find((each) => line.split(each).length > 2);
    if (separator === undefined) return bytes;
    const fields = line.split(separator);
    const [i, j] = [random.below(fields.length), random.below(fields.length)];
    [fields[i], fields[j]] = [fields[j]!, fields[i]!];
    return spliced(bytes, start, end - start, Buffer.from(fields.join(separator), 'latin1'));
  },
  'field replaced': (bytes, random) => {
    const at = anywhere(bytes, random);
    const isEdge = (byte: number | undefined): boolean => byte === undefined || [0x3b, 0x2c, 0x09, 0x0a, 0x0d, 0x22, 0x3c, 0x3e, 0x20].includes(byte);
    let [start, end] = [at, at];
    while (start > 0 && !isEdge(bytes[start - 1])) start -= 1;
    while (end < bytes.length && !isEdge(bytes[end])) end += 1;
    return spliced(bytes, start, end - start, Buffer.from(random.pick(TOKENS)));
  },
  'separators changed': (bytes, random) => {
    const [from, to] = [random.pick(SEPARATORS), random.pick(SEPARATORS)];
    const [start, end] = random.below(2) === 0 ? [0, bytes.length] : lineAt(bytes, anywhere(bytes, random));
    const copy = Buffer.from(bytes);
    for (let at = start; at < end; at += 1) if (copy[at] === from) copy[at] = to;
    return copy;
  },
  'number changed': (bytes, random) => {
    if (bytes.length < 4) return bytes;
    // Changes a count, an offset or a length of a binary format.
    const copy = Buffer.from(bytes);
    const value = random.pick([0, 1, -1, 0x7fffffff, -0x80000000, 0xffff, random.below(1000)]);
    const at = random.below(2) === 0 ? random.below(Math.min(200, bytes.length - 3)) : random.below(bytes.length - 3);
    if (random.below(2) === 0) copy.writeInt32LE(value, at);
    else copy.writeInt32BE(value, at);
    return copy;
  },
};
const NAMES = Object.keys(MUTATIONS);

function mutated(bytes: Buffer, random: Random): { readonly how: string; readonly bytes: Buffer } {
  const hows: string[] = [];
  let now = bytes;
  for (let i = 0; i <= random.below(3); i += 1) {
    const how = random.pick(NAMES);
    hows.push(how);
    now = MUTATIONS[how]!(now, random);
  }
  return { how: hows.join(', '), bytes: now };
}

// --- material ------------------------------------------------------------------------------------------------------

/** File to mutate, with the other files of a shapefile. `entries` contains the entries of a readable zip and is null for any other file. */
interface Seed {
  readonly name: string;
  readonly parts: readonly { readonly name: string; readonly bytes: Buffer }[];
  readonly entries: readonly { readonly name: string; readonly bytes: Buffer }[] | null;
}

/** Returns the entries of a zip, or null if the zip is empty or damaged. Only the bytes of such a zip are mutated. */
async function entriesOf(path: string): Promise<Seed['entries']> {
  const zip = await ZipArchive.open(path).catch(() => null);
  if (zip === null) return null;
  try {
    const entries: { name: string; bytes: Buffer }[] = [];
    for (const entry of zip.entries.filter(({ isFolder }) => !isFolder)) entries.push({ name: entry.path, bytes: await zip.buffer(entry.path) });
    return entries.length === 0 ? null : entries;
  } catch {
    return null;
  } finally {
    await zip.close();
  }
}

/** @param root folder for the synthetic files */
async function seedsOf(source: RegisteredSource, root: string): Promise<Seed[]> {
  const synthetic = join(root, source.id);
  mkdirSync(synthetic);
  await writeOwn(source.id, synthetic, { parcels: 40, seed: 3 });
  const seeds: Seed[] = [];
  for (const folder of [join(ROOT, source.folder, 'fixture'), synthetic]) {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile());
    for (const name of names) {
      const path = join(folder, name);
      if (/\.(?:dbf|shx|prj|cpg)$/i.test(name) || statSync(path).size > LARGEST || statSync(path).size === 0) continue;
      const stem = name.replace(/\.[^.]+$/, '.');
      const parts = (/\.shp$/i.test(name) ? names.filter((each) => each.startsWith(stem)) : [name]).map((each) => ({ name: basename(each), bytes: readFileSync(join(folder, each)) }));
      seeds.push({ name: basename(name), parts, entries: /\.(?:zip|kmz|xlsx)$/i.test(name) ? await entriesOf(path) : null });
    }
  }
  return seeds;
}

/** Writes a mutation of the seed. @returns a description of the mutation and of the mutated part */
async function writeMutation(seed: Seed, folder: string, random: Random): Promise<string> {
  if (seed.entries !== null && random.below(3) > 0) {
    const victim = random.below(seed.entries.length);
    const { how, bytes } = mutated(seed.entries[victim]!.bytes, random);
    await writeZip(join(folder, seed.name), seed.entries.map((entry, index) => [entry.name, index === victim ? bytes : entry.bytes]));
    return `${seed.entries[victim]!.name}: ${how}`;
  }
  const victim = random.below(seed.parts.length);
  const { how, bytes } = mutated(seed.parts[victim]!.bytes, random);
  for (const [index, part] of seed.parts.entries()) writeFileSync(join(folder, part.name), index === victim ? bytes : part.bytes);
  return `${seed.parts[victim]!.name}: ${how}`;
}

// --- verdicts ------------------------------------------------------------------------------------------------------

/**
 * Declares the tests of one part of the sources. The sources are divided between test files, so that the files can run at the same time.
 * @param part index of the first source, from 0
 * @param parts number of parts. From the first source on, every `parts`-th source is tested
 */
export function fuzzSources(part: number, parts: number): void {
  const root = mkdtempSync(join(tmpdir(), 'mappale-fuzz-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  describe.each(sources.filter((_, index) => index % parts === part).map((source) => [source.id, source] as const))('source %s', (id, source) => {
    it(`survives ${CASES} mutated files, seed ${SEED}`, async () => {
      const seeds = await seedsOf(source, root);
      expect(seeds.length).toBeGreaterThan(0);
      const random = randomOf(`fuzz ${SEED} ${id}`);
      const folder = join(root, `${id}-case`);
      const counts = { read: 0, refused: 0, stopped: 0, unknown: 0 };
      const faults: string[] = [];
      for (let number = 0; number < CASES && faults.length < 20; number += 1) {
        const seed = random.pick(seeds);
        mkdirSync(folder);
        const how = await writeMutation(seed, folder, random);
        const label = `case ${number}, ${seed.name}, ${how}`;
        const before = process.cpuUsage();
        try {
          const verdicts = await validate([join(folder, seed.name)], [source], null, () => undefined);
          for (const verdict of verdicts) {
            const lost = verdict.findings.find(({ code }) => code === 'ACCOUNTING');
            if (lost !== undefined) faults.push(`${label}: ${lost.detail}`);
            const vague = verdict.findings.find(({ level, at, detail, hint }) => level === 'error' && (at === '' || detail === undefined || hint === undefined));
            if (vague !== undefined) faults.push(`${label}: the error lacks a location, a detail or a hint: ${JSON.stringify(vague)}`);
            const stopped = verdict.findings.some(({ level, code }) => level === 'error' && /^[A-Z]/.test(code));
            if (verdict.source === null && verdict.findings.every(({ code }) => code === 'FILE_UNKNOWN')) counts.unknown += 1;
            else if (stopped) counts.stopped += 1;
            else if (verdict.rejects > 0) counts.refused += 1;
            else counts.read += 1;
          }
        } catch (error) {
          faults.push(`${label}: ${error instanceof MappaleError ? error.report() : (error as Error).stack?.split('\n').slice(0, 5).join(' | ')}`);
        }
        const { user, system } = process.cpuUsage(before);
        const took = (user + system) / 1000;
        if (took > SLOWEST_MS) faults.push(`${label}: took ${Math.round(took)} ms of CPU time`);
        rmSync(folder, { recursive: true });
      }
      console.log(`fuzz ${id}: ${JSON.stringify(counts)}`);
      expect(faults).toEqual([]);
      expect(counts.read + counts.refused + counts.stopped + counts.unknown).toBeGreaterThanOrEqual(CASES);
      // More than a quarter of the mutated files must still be recognised. Otherwise the readers are hardly tested.
      expect(counts.read + counts.refused + counts.stopped).toBeGreaterThan(CASES / 4);
    }, 3_600_000);
  });
}
