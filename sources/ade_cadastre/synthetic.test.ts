import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import source from './source.ts';
import synthetic, { cadastralName, quirks } from './synthetic.ts';
import type { Collected } from '../../test/harness/collect.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const region = makeRegion({ parcels: 2000, seed: 1 });
const folder = temporaryFolder();
let collected: Collected;

beforeAll(async () => {
  await synthetic.write(region, folder);
  const { recognition, collected: found, error } = await trial(source, join(folder, 'MOLISE.zip'));
  expect(error).toBeNull();
  expect(recognition).toEqual({ role: 'regione', vintage: '2026-07-01', region: 14, complete: true });
  collected = found!;
});

/** Returns the coordinates of a little-endian EWKB multipolygon. */
function coordinates(ewkb: Buffer): [number, number][][][] {
  let at = 9;
  const uint = (): number => ewkb.readUInt32LE((at += 4) - 4);
  return Array.from({ length: uint() }, () => {
    at += 5;
    return Array.from({ length: uint() }, () => Array.from({ length: uint() }, (): [number, number] => {
      at += 16;
      return [ewkb.readDoubleLE(at - 16), ewkb.readDoubleLE(at - 8)];
    }));
  });
}

describe('the synthetic cadastral map', () => {
  test('contains every parcel of the region with its exact corners, and otherwise only the deliberately faulty parcels', () => {
    const staged = new Map<string, [number, number][][][][]>();
    for (const { reference, geom } of collected.rows['raw_parcel']!) staged.set(String(reference), [...(staged.get(String(reference)) ?? []), coordinates(geom as Buffer)]);
    const repeated: string[] = [];
    for (const parcel of region.parcels()) {
      const found = staged.get(parcel.reference)!;
      expect(found[0]).toEqual(parcel.polygons);
      if (found.length > 1) repeated.push(JSON.stringify(found[1]) === JSON.stringify(found[0]) ? 'repeated' : 'contradicted');
      staged.delete(parcel.reference);
    }
    expect(repeated).toEqual(['repeated', 'contradicted']);
    // The other parcels are in a comune that does not exist, have a ring that crosses itself, or have a ring without an area. The reader accepts these
    // parcels. `load.sql` rejects or repairs them.
    const { pseudoComune, repaired } = quirks(region);
    expect([...staged.keys()].sort()).toEqual([pseudoComune, repaired, 'Z001_000100.9004'].sort());
  });

  test('contains every sheet, and the sheets of one comune twice', () => {
    const sheets = region.comuni.flatMap((comune) => [...region.sheets(comune)].map(({ reference }) => reference));
    const staged = collected.rows['raw_sheet']!.map(({ reference }) => String(reference));
    expect(new Set(staged)).toEqual(new Set(sheets));
    expect(staged.length - sheets.length).toBe(quirks(region).duplicates - 1);
  });

  test('has only one rejected member, which is not well-formed', () => {
    const rejects = collected.members.flatMap(({ rejects: found }) => found.map(({ code }) => code));
    expect(rejects).toEqual(Array<string>(quirks(region).rejects.xml_malformed).fill('xml_malformed'));
  });

  test('is packed in zips of provinces and comuni, with backticks in the names', () => {
    expect(collected.members.map(({ path }) => path)).toContain('IS.zip/Z001_CASTEL DELL`INVENTATO.zip/Z001_CASTEL DELL`INVENTATO_ple.gml');
    expect(collected.members.map(({ path }) => path)).toContain('CB.zip/Z005_ROCCAPPARENTE_map.gml');
    expect(cadastralName("Città d'Invenzione-Sopra")).toBe('CITTA` D`INVENZIONE SOPRA');
  });

  test('has the same bytes each time it is written', async () => {
    const again = await mkdtemp(join(tmpdir(), 'mappale-test-'));
    await synthetic.write(region, again);
    const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
    expect(digest(join(again, 'MOLISE.zip'))).toBe(digest(join(folder, 'MOLISE.zip')));
    await rm(again, { recursive: true });
  });

  test('has expected sheets and sections that agree with the references of the parcels, and plausible expected areas', () => {
    const truth = synthetic.truth!(region);
    for (const parcel of region.parcels(region.comuni[1])) {
      const { basic } = truth(parcel) as {
        basic: {
          cadastral_reference: string;
          area_m2: number;
          cadastral: { comune_code: string; section: string; sheet: string; attachment: string; development: string };
        };
      };
      const { comune_code, section, sheet, attachment, development } = basic.cadastral;
      expect(`${comune_code}${section}${sheet}${attachment}${development}`).toBe(parcel.sheet.reference);
      // Cells are 41 × 44 m, with corners moved by up to 15 %. A parcel has up to twelve cells.
      expect(basic.area_m2 / parcel.cells.length).toBeGreaterThan(900);
      expect(basic.area_m2 / parcel.cells.length).toBeLessThan(3000);
    }
  });
});
