/** Tests that the reason why a loaded file is not used is correct, with random inventories. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { REGIONS } from '../../pipelines/contract/regions.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import type { FilePlaces, LoadedFile } from '../../pipelines/ledger/current-files.ts';
import { Inventory } from '../../pipelines/ledger/inventory.ts';
import { whyUnused } from '../../pipelines/plan/unused.ts';
import { testEnvironment } from '../harness/environment.ts';

const { seed } = testEnvironment();
const SOURCES = await loadSources();
/** Comuni in the list: two in each of three regions. */
const LIST = new Map([['A001', 14], ['A002', 14], ['B001', 13], ['B002', 13], ['C001', 16], ['C002', 16]]);
const PLACES = [...LIST.keys(), 'X001'];
const ANY_REGION = fc.constantFrom(null, null, 13, 14, 16);

/** Generates the loaded files of one source, each with up to two layers and their places, and the planned regions. */
const inventories = fc.constantFrom(...SOURCES).chain((source) => {
  const layers = source.layer.writes.map((layer) => layer.slice('layer.'.length));
  // A layer either has the places of its rows, or the single place ''.
  const held: fc.Arbitrary<FilePlaces> = fc.constantFrom(...layers).chain((layer) => fc.record({
    layer: fc.constant(layer), series: fc.constantFrom('', '', '2024'), region: fc.constant(null), likelyRegion: ANY_REGION, dated: fc.constant(null),
    named: fc.boolean(), places: source.places?.[layer] === undefined ? fc.constant(['']) : fc.subarray(PLACES),
  }));
  const file = fc.record({
    role: fc.constantFrom('a', 'b'), vintage: fc.constantFrom('0000', '2023', '2024-01-01', '2025'), dated: fc.constantFrom(null, '2025-01-01'), region: ANY_REGION,
    assigned: fc.constant(null), complete: fc.boolean(), place: fc.constantFrom(null, null, 'E46N20'), sha256: fc.constantFrom('1', '2', '3', '4', '5', '6'), present: fc.boolean(),
    arrived: fc.nat({ max: 5 }), forgotten: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    held: fc.array(held, { maxLength: 2 }),
  });
  return fc.record({ files: fc.array(file, { minLength: 1, maxLength: 6 }), units: fc.subarray([0, 13, 14, 16]) }).map(({ files, units }) => ({
    units,
    files: files.map((each, index): LoadedFile => ({ ...each, fileId: index + 1, releaseId: index + 1, sourceId: source.id, name: `made_${index + 1}.zip`, reader: 'r', refersTo: [] })),
  }));
});

/** Returns the region of each place of a file: the region of the file if known, else the place's region in the list, else the likely region of the rows. */
function regionsOf(file: LoadedFile): (number | null)[] {
  return file.held.flatMap(({ likelyRegion, places }) => places.map((place) => file.region ?? LIST.get(place) ?? likelyRegion));
}

it(`every loaded file that is not used has a correct reason, seed ${seed}`, () => {
  const given = new Map<string, number>();
  fc.assert(fc.property(inventories, ({ files, units }) => {
    const inventory = new Inventory(files, [], LIST, SOURCES);
    const used = new Set(units.flatMap((region) => inventory.used(region)));
    for (const file of files.filter((each) => !used.has(each))) {
      const reason = whyUnused(file, inventory, units);
      const kind = reason.replace(/made_\d+\.zip \(.*?\)/, 'FILE').replace(/belongs to .*?, which/, 'belongs to REGIONS, which');
      given.set(kind, (given.get(kind) ?? 0) + 1);
      expect(reason).not.toContain('0000');
      const instead = /^(made_\d+\.zip) \((.*)\) is used instead$/.exec(reason);
      if (instead !== null) {
        const other = [...used].find(({ name }) => name === instead[1])!;
        const [layers, places] = [other.held.map(({ layer }) => layer), other.held.flatMap((held) => held.places)];
        expect(other).toBeDefined();
        // Both files cover the same layer. They also cover the same place, unless the used file is complete.
        expect(file.held.some(({ layer }) => layers.includes(layer))).toBe(true);
        expect(file.held.some((held) => held.places.some((place) => places.includes(place))) || other.complete).toBe(true);
        // At least one place of the unused file can be in a planned region.
        expect(regionsOf(file).some((region) => region === null || units.includes(region) || units.includes(0))).toBe(true);
      } else if (reason.startsWith('belongs to')) {
        const named = REGIONS.filter(({ name }) => reason.includes(name)).map(({ code }) => code).sort((a, b) => a - b);
        expect(named).toEqual([...new Set(regionsOf(file))].sort((a, b) => a! - b!));
        expect(named.filter((code) => units.includes(code))).toEqual([]);
      } else if (reason.startsWith('forgotten')) expect(file.forgotten).toBe(true);
      else if (reason === 'no row of the file could be used') expect(file.held.flatMap(({ places }) => places)).toEqual([]);
      else if (reason === 'the same file was read again later') expect(files.some(({ sha256, fileId }) => sha256 === file.sha256 && fileId > file.fileId)).toBe(true);
      else if (reason === 'no region is requested or published') expect(units).toEqual([]);
      else {
        expect(reason).toBe('files of other regions contain the places of this file');
        const listed = file.held.flatMap(({ places }) => places.flatMap((place) => LIST.get(place) ?? []));
        expect(listed.some((region) => region !== file.region)).toBe(true);
      }
    }
  }), { numRuns: 3000, seed });
  console.log(`reasons given, seed ${seed}: ${JSON.stringify(Object.fromEntries(given))}`);
  for (const reason of ['FILE is used instead', 'no row of the file could be used', 'the same file was read again later']) expect(given.get(reason)).toBeGreaterThan(0);
});
