/** Tests the choice of current files on plain objects, with single cases and with random files. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { currentFiles, currentPlaces, regionOf, type FilePlaces, type CurrentFiles, type LoadedFile, type Register } from '../../pipelines/ledger/current-files.ts';
import { refuseFewer } from '../../pipelines/ledger/places.ts';

const CADASTRE = { id: 'cadastre', manifest: { keep: 'newest' } } as never;
const SERIES = { id: 'cadastre', manifest: { keep: 'all' } } as never;
const LIST: Register = new Map([['A001', 14], ['A002', 14], ['A003', 14], ['B001', 13]]);

let next = 0;
function held(places: readonly string[], more: Partial<FilePlaces> = {}): FilePlaces {
  return { layer: 'parcel', series: '', region: null, likelyRegion: null, dated: null, named: true, places, ...more };
}
function file(name: string, places: readonly string[], more: Partial<LoadedFile> = {}): LoadedFile {
  next += 1;
  return {
    fileId: next, releaseId: next, sourceId: 'cadastre', role: 'zip', vintage: '2026-01-01', dated: null, region: 14, assigned: null, complete: false, place: null, name,
    sha256: `sha of ${name}`, reader: 'r', present: true, arrived: 1, forgotten: false, refersTo: [], held: [held(places)], ...more,
  };
}
/** Maps each place to the name of the file that covers the place. */
function owners({ files }: CurrentFiles): Record<string, string> {
  const placesOf = (each: CurrentFiles['files'][number]): string[] => currentPlaces({ files: [each], ties: [], elsewhere: [], replaced: [] }, 'parcel');
  return Object.fromEntries(files.flatMap((each) => placesOf(each).map((place) => [place, each.file.name])));
}
const of = (files: readonly LoadedFile[], region = 14, source = CADASTRE, register = LIST): Record<string, string> => owners(currentFiles(files, source, { region, layer: 'parcel', register }));

describe('current files:', () => {
  it('a file of one province is kept next to a newer file of another province', () => {
    expect(of([file('CB.zip', ['A001', 'A002'], { vintage: '2026-01-01' }), file('IS.zip', ['A003'], { vintage: '2026-07-01' })])).toEqual({ A001: 'CB.zip', A002: 'CB.zip', A003: 'IS.zip' });
  });

  it("a newer file of a comune replaces the region's file only for that comune", () => {
    expect(of([file('MOLISE.zip', ['A001', 'A002'], { complete: true }), file('A001.zip', ['A001'], { vintage: '2026-02-01' })])).toEqual({ A001: 'A001.zip', A002: 'MOLISE.zip' });
    expect(of([file('MOLISE.zip', ['A001', 'A002'], { complete: true, vintage: '2026-03-01' }), file('A001.zip', ['A001'], { vintage: '2026-02-01' })])).toEqual({ A001: 'MOLISE.zip', A002: 'MOLISE.zip' });
  });

  it('a complete file supersedes all older files of its region, and a loss of comuni is reported', () => {
    const current = currentFiles([file('old.zip', ['A001', 'A002'], { complete: true, vintage: '2025-01-01' }), file('new.zip', ['A001'], { complete: true })], CADASTRE, { region: 14, layer: 'parcel', register: LIST });
    expect(owners(current)).toEqual({ A001: 'new.zip' });
    expect(current.replaced).toMatchObject([{ file: { name: 'new.zip' }, was: { places: new Set(['A001', 'A002']) }, now: { places: new Set(['A001']) } }]);
  });

  it('a complete file with a loss of comuni is refused, unless a user accepts the loss or the file is already published', async () => {
    const [was, now] = [file('old.zip', ['A001', 'A002'], { complete: true, vintage: '2025-01-01' }), file('new.zip', ['A001'], { complete: true })];
    const layers = [{ relation: 'layer.parcel', current: currentFiles([was, now], CADASTRE, { region: 14, layer: 'parcel', register: LIST }) }] as const;
    /** A database whose publication uses these files. */
    const publishing = (files: readonly LoadedFile[]): Database => ({ query: async () => files.map(({ fileId }) => ({ id: fileId })) }) as never;
    const accept = { who: 'somebody', why: 'the comune was merged' };
    await expect(refuseFewer(publishing([was]), [], 14, layers, null)).rejects.toMatchObject({
      code: 'FEWER_COMUNI', exitCode: 5, at: 'new.zip', detail: 'parcel: expected at least 2 comuni, found 1; missing: A002',
    });
    expect(await refuseFewer(publishing([was]), [], 14, layers, accept)).toEqual([
      { relation: 'layer.parcel', file: 'new.zip', figure: 'comuni', was: 2, now: 1, least: 2, comuni: 'A002' },
    ]);
    expect(await refuseFewer(publishing([now]), [], 14, layers, null)).toEqual([]);
  });

  it('a removed file stays current until the folder contains a file of the same age for the same place', () => {
    const left = file('x.zip', ['A001'], { present: false, arrived: 9 });
    expect(of([left])).toEqual({ A001: 'x.zip' });
    expect(of([left, file('y.zip', ['A001'], { arrived: 1 })])).toEqual({ A001: 'y.zip' });
  });

  it('the file that arrived later is current if two files of the same age were removed', () => {
    const left = file('x.zip', ['A001'], { present: false, arrived: 9 });
    expect(of([left, file('y.zip', ['A001'], { present: false, arrived: 1 })])).toEqual({ A001: 'x.zip' });
  });

  it('the previous file covers the places of a forgotten file', () => {
    expect(of([file('a.zip', ['A001']), file('b.zip', ['A001'], { vintage: '2026-05-01', forgotten: true })])).toEqual({ A001: 'a.zip' });
  });

  it('the later of two files is current if the same bytes were read twice', () => {
    const first = file('a.zip', ['A001']);
    const again = { ...first, fileId: first.fileId + 1000, releaseId: first.releaseId + 1000, held: [held(['A001', 'A002'])] };
    const { files } = currentFiles([again, first], CADASTRE, { region: 14, layer: 'parcel', register: LIST });
    expect(files.map(({ file: { fileId } }) => fileId)).toEqual([again.fileId]);
  });

  it('two files of the same age conflict only while both are in the folder', () => {
    const a = file('a.zip', ['A001', 'A002']);
    const b = file('b.zip', ['A002', 'A003']);
    expect(currentFiles([a, b], CADASTRE, { region: 14, layer: 'parcel', register: LIST }).ties).toMatchObject([{ places: [{ place: 'A002' }] }]);
    expect(currentFiles([{ ...a, present: false }, b], CADASTRE, { region: 14, layer: 'parcel', register: LIST }).ties).toEqual([]);
    const whole = [file('c.csv', [''], { complete: true, region: null }), file('d.csv', [''], { complete: true, region: null })];
    expect(currentFiles(whole, CADASTRE, { region: 14, layer: 'parcel', register: LIST }).ties).toHaveLength(1);
  });

  it('the file for the smaller area takes precedence if two files have the same day', () => {
    const italy = file('ITALIA.zip', ['A001', 'A002', 'A003'], { complete: true, region: null });
    expect(of([italy, file('MOLISE.zip', ['A001', 'A002', 'A003'], { complete: true }), file('CB.zip', ['A001', 'A002']), file('A001.zip', ['A001'])]))
      .toEqual({ A001: 'A001.zip', A002: 'CB.zip', A003: 'MOLISE.zip' });
  });

  it('a comune listed in another region is published in the region of its file, unless a file of the listed region contains the comune', () => {
    const molise = file('MOLISE.zip', ['A001', 'B001'], { complete: true });
    expect(of([molise])).toEqual({ A001: 'MOLISE.zip', B001: 'MOLISE.zip' });
    const both = [molise, file('ABRUZZO.zip', ['B001'], { complete: true, region: 13 })];
    expect(of(both)).toEqual({ A001: 'MOLISE.zip' });
    expect(of(both, 13)).toEqual({ B001: 'ABRUZZO.zip' });
    expect(currentFiles(both, CADASTRE, { region: 14, layer: 'parcel', register: LIST }).elsewhere).toMatchObject([{ place: 'B001', region: 13 }]);
  });

  it('a file with a comune whose region is unknown has no region until the list, its rows or the user determine one', () => {
    const alone = file('Z999.zip', ['Z999'], { region: null });
    expect(regionOf(alone, alone.held[0]!, 'Z999', LIST)).toBeNull();
    expect(regionOf({ ...alone, assigned: 14 }, alone.held[0]!, 'Z999', LIST)).toBe(14);
    expect(regionOf(alone, held(['Z999'], { likelyRegion: 20 }), 'Z999', LIST)).toBe(20);
    expect(regionOf(alone, held(['A001'], { likelyRegion: 20 }), 'A001', LIST)).toBe(14);
  });

  it('a file that contains a parcel of another comune by mistake does not replace that comune\'s older file', () => {
    const stray = { ...file('A001.zip', [], { vintage: '2026-09-01' }), held: [held(['A001']), held(['A002'], { named: false })] };
    expect(of([stray, file('A002.zip', ['A002'])])).toEqual({ A001: 'A001.zip', A002: 'A002.zip' });
    expect(of([stray])).toEqual({ A001: 'A001.zip', A002: 'A001.zip' });
  });

  it('a file of a time series is compared per half-year, by the date of its rows', () => {
    const archive = { ...file('all.zip', [], { region: null, vintage: '2025_2' }), held: [held(['A001'], { series: '2018_1', dated: '2018-09-01' }), held(['A001'], { series: '2025_2', dated: '2026-03-01' })] };
    const one = { ...file('one.csv', [], { region: null, vintage: '2018_1' }), held: [held(['A001'], { series: '2018_1', dated: '2019-01-01' })] };
    const { files } = currentFiles([archive, one], SERIES, { region: 14, layer: 'parcel', register: LIST });
    expect(files.flatMap(({ file: { name }, places, whole }) => (whole ? [`${name} whole`] : places.map(({ series }) => `${name} ${series}`))).sort()).toEqual(['all.zip 2025_2', 'one.csv whole']);
  });

  it('a file with a tile supersedes older files of the same tile', () => {
    const tile = (name: string, place: string, vintage: string): LoadedFile => file(name, [''], { region: null, place, vintage });
    const { files } = currentFiles([tile('a', 'E46N19', '2020'), tile('b', 'E46N19', '2024'), tile('c', 'E47N19', '2020')], CADASTRE, { region: 14, layer: 'parcel', register: LIST });
    expect(files.map(({ file: { name } }) => name).sort()).toEqual(['b', 'c']);
  });
});

const PLACES = ['A001', 'A002', 'A003', 'B001', 'Z999'];
/** Generates up to eight files with different dates. */
const anyFiles = fc
  .uniqueArray(
    fc.record({
      day: fc.integer({ min: 1, max: 28 }),
      complete: fc.boolean(),
      region: fc.constantFrom(13, 14),
      places: fc.subarray(PLACES, { minLength: 1 }),
      forgotten: fc.boolean(),
      present: fc.boolean(),
    }),
    { selector: ({ day }) => day, maxLength: 8 },
  )
  .map((specs) =>
    specs.map(({ day, complete, region, places, forgotten, present }) =>
      file(`${day}.zip`, places, { vintage: `2026-01-${String(day).padStart(2, '0')}`, complete, region, forgotten, present }),
    ),
  );

describe('the choice of current files', () => {
  it('equals the choice of a simple model in each of two regions', () => {
    fc.assert(fc.property(anyFiles, (files) => {
      const model = (region: number, without: ReadonlySet<string>): Record<string, string> => {
        const found: Record<string, string> = {};
        for (const each of files.filter((one) => !one.forgotten && one.region === region).sort((a, b) => (a.vintage < b.vintage ? 1 : -1))) {
          for (const place of each.held[0]!.places) if (!without.has(place)) found[place] ??= each.name;
          if (each.complete && each.held[0]!.places.some((place) => !without.has(place))) break;
        }
        return found;
      };
      const all = new Map([13, 14].map((region) => [region, model(region, new Set())]));
      for (const region of [13, 14]) {
        // A place that LIST assigns to the other region is current only if no current file of the other region contains the place.
        const elsewhere = Object.keys(all.get(region)!).filter((place) => {
          const listed = LIST.get(place) ?? region;
          return listed !== region && place in all.get(listed)!;
        });
        expect(of(files, region), `region ${region}`).toEqual(model(region, new Set(elsewhere)));
      }
    }), { numRuns: 500 });
  });

  it('does not depend on the order in which files arrived, or on the numbers of files in the ledger', () => {
    fc.assert(fc.property(anyFiles, fc.infiniteStream(fc.nat()), (files, numbers) => {
      const ordered = files.map((each) => ({ each, by: numbers.next().value as number })).sort((a, b) => a.by - b.by);
      const others = ordered.map(({ each }, index) => ({ ...each, fileId: 5000 + index, releaseId: 9000 - index, arrived: index }));
      expect(of(others, 14)).toEqual(of(files, 14));
      expect(of(others, 13)).toEqual(of(files, 13));
    }), { numRuns: 500 });
  });
});
