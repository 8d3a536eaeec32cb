import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import type { Random } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { INDIR_COLUMNS, INDIR_STREET_COLUMNS, STRAD_COLUMNS, indirAccess, indirStreet, record } from './schema.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { collect, inputFile } from '../../test/harness/collect.ts';
import { describeDatabase } from '../../test/harness/database.ts';
import { loaded } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const HEADER = `${INDIR_COLUMNS.join(';')}\n`;

const folder = temporaryFolder();

function written(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function zipped(name: string, entry: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeZip(path, [[entry, content]]);
  return path;
}

/** Returns a valid line of INDIR with some fields changed. */
function line(fields: Readonly<Partial<Record<(typeof INDIR_COLUMNS)[number], string>>> = {}): string {
  const usual: Record<string, string> = {
    CODICE_COMUNE: 'Z001', CODICE_ISTAT: '094901', PROGRESSIVO_NAZIONALE: '9000001', ODONIMO: 'VIA INVENTATA', PROGRESSIVO_ACCESSO: '1001', CIVICO: '1',
    COORD_X_COMUNE: '14,25', COORD_Y_COMUNE: '41,9', QUOTA: '0', METODO: '4',
  };
  return `${INDIR_COLUMNS.map((column) => fields[column] ?? usual[column] ?? '').join(';')}\n`;
}

describe('reading ANNCSU', () => {
  it('gives the same rows from a zip and from the plain file', async () => {
    const plain = await trial(source, join(FOLDER, 'fixture', 'INDIR_MOLI_20260602.csv'));
    const zip = await trial(source, await zipped('indirizzarioMolise20260602.zip', 'INDIR_MOLI_20260602.csv', readFileSync(join(FOLDER, 'fixture', 'INDIR_MOLI_20260602.csv'))));
    expect(zip.recognition).toEqual(plain.recognition);
    expect(zip.collected!.rows).toEqual(plain.collected!.rows);
    expect(zip.collected!.members[0]!.path).toBe('INDIR_MOLI_20260602.csv');
  });

  it('reports a truncated or damaged zip as an error, and returns no rows of a truncated zip', async () => {
    const whole = readFileSync(await zipped('INDIR_MOLI_20260602.zip', 'INDIR_MOLI_20260602.csv', HEADER + line().repeat(2000)));
    for (const bytes of [whole.length - 30, Math.floor(whole.length / 2), 100]) {
      const { error, collected } = await trial(source, written('cut_20260602.zip', whole.subarray(0, bytes)));
      expect(collected).toBeNull();
      expect(error?.code).toBe('ZIP_UNREADABLE');
    }
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(damaged.readUInt8(200) ^ 0xff, 200);
    const { error } = await trial(source, written('damaged_20260602.zip', damaged));
    expect(error?.code).toMatch(/^ZIP_/);
  });

  it.each([
    ['INDIR_CALA_20260602.csv', 18, true, '2026-06-02'],
    ['INDIR_TREN_20260915.csv', 4, true, '2026-09-15'],
    ['INDIR_FRIU_20250128.csv', 6, true, '2025-01-28'],
    ['INDIR_VALL_20250128.csv', 2, true, '2025-01-28'],
    ['INDIR_ITA_20260915.csv', null, true, '2026-09-15'],
    ['indirizzarioItalia20260915.csv', null, true, '2026-09-15'],
    ['indirizzarioFriuliVeneziaGiulia20260915.csv', 6, true, '2026-09-15'],
    ['indirizzarioValledAosta20260915.csv', 2, true, '2026-09-15'],
    ['comune_Z001_indirizzario_20260223_reexport.csv', null, false, '2026-02-23'],
    ['getds.php?INDIR_CALA_20260602', 18, true, '2026-06-02'],
    ['getds.php@INDIR_ITA 20260602', null, true, '2026-06-02'],
  ])('takes the region and the date from the name %s', async (name, region, complete, vintage) => {
    const { recognition } = await trial(source, written(name, HEADER + line()));
    expect(recognition).toEqual({ role: 'INDIR', vintage, region, complete });
  });

  it('dates a file saved under its download URL by the name of the CSV inside, otherwise by the date of the zip entry, and rejects a file without a date', async () => {
    const dated = await trial(source, await zipped('getds.php?INDIR_CALA', 'INDIR_CALA_20260602.csv', HEADER + line()));
    expect(dated.recognition).toEqual({ role: 'INDIR', vintage: '2026-06-02', region: 18, complete: true });
    expect(dated.collected!.members[0]!.records).toBe(1);
    const path = join(folder, 'getds.php?STRAD_CALA');
    const strad = `${STRAD_COLUMNS.join(';')}\nZ001;094901;1;;VIA FINTA;;0;;;\n`;
    await writeZip(path, [['stradario.csv', strad, { modified: '2026-06-03' }]]);
    expect((await trial(source, path)).recognition).toEqual({ role: 'STRAD', vintage: '2026-06-03', region: 18, complete: true });
    expect((await trial(source, await zipped('getds.php?STRAD_CALA', 'stradario.csv', strad))).error?.code).toBe('ANNCSU_VINTAGE_UNKNOWN');
  });

  it.each(['INDIR_MOLI_20260631.csv', 'INDIR_MOLI_20260229.csv'])('rejects the name %s, because this day does not exist', async (name) => {
    const { error, recognition } = await trial(source, written(name, HEADER + line()));
    expect([recognition, error?.code]).toEqual([null, 'ANNCSU_VINTAGE_UNKNOWN']);
  });

  it('does not recognise files of other sources', async () => {
    for (const content of ['', 'a;b;c\n1;2;3\n', 'CODICE_COMUNE;ODONIMO\n', '\0\0\0']) expect((await trial(source, written('other.csv', content))).recognition).toBeNull();
    expect((await trial(source, await zipped('other_20260602.zip', 'readme.txt', 'text'))).recognition).toBeNull();
  });

  it('keeps the line of a reject as published, even if the line is not valid UTF-8', async () => {
    const bad = Buffer.from(line({ ODONIMO: 'VIA CAFF\u00e8' }), 'latin1');
    const { collected } = await trial(source, written('raw_20260602.csv', Buffer.concat([Buffer.from(HEADER + line({ CIVICO: '1A' })), bad])));
    const [first, second] = collected!.members[0]!.rejects;
    expect(first!.raw).toBe(line({ CIVICO: '1A' }).trimEnd());
    expect(Buffer.from(second!.raw as Buffer).equals(bad.subarray(0, -1))).toBe(true);
  });

  it('rejects a file with a line of three million bytes', async () => {
    const { error } = await trial(source, written('endless_20260602.csv', HEADER + 'x'.repeat(3_000_000)));
    expect(error?.code).toBe('ANNCSU_LINE_TOO_LONG');
  });

  it.each(['\n', `\n${line()}`])('rejects a file with a line of more than 1 MiB, even if the line has an end (%j)', async (end) => {
    const { error } = await trial(source, written('long_20260602.csv', `${HEADER}${line()}${'x'.repeat(1_100_000)}${end}`));
    expect(error).toMatchObject({ code: 'ANNCSU_LINE_TOO_LONG', at: 'long_20260602.csv:3' });
  });

  it('writes each street once if the lines of several streets alternate', async () => {
    const lines = Array.from({ length: 300 }, (_, i) => line({ PROGRESSIVO_NAZIONALE: String(9_000_000 + (i % 3)), ODONIMO: `VIA ${'ABC'[i % 3]}`, PROGRESSIVO_ACCESSO: String(i) }));
    const { collected } = await trial(source, written('mixed_20260602.csv', HEADER + lines.join('')));
    const rows = collected!.rows['raw_access']!;
    expect(rows).toHaveLength(300);
    expect(rows.filter(({ street }) => street !== null).map(({ progressivo_nazionale }) => progressivo_nazionale)).toEqual([9_000_000, 9_000_001, 9_000_002]);
  });
});

// --- comparison of the fast path with the schema -----------------------------------------------------------------------------------

const ODD: Readonly<Record<string, readonly string[]>> = {
  key: ['', '0', '1', '999999999999999', '1000000000000000', '12a', ' 12', '-1', '1,0', '٣'],
  whole: ['', '0', '007', '12', '999999999', '1000000000', '12A', '1,5', '+1', ' '],
  text: ['', 'A', 'BIS', 'à', '𝄞', ' x ', '"', "D'", 'Ã²', '\t', 'x'.repeat(300)],
  decimal: ['', '0', '-0', ',5', '-,5', '5,', ',', '-', '14,2541', '16,28342100', '0,1', '123456789012345', '1234567890123456', '12,34567890123456789', '1.5', '1e3', '1,2,3', '--1', '+1', '00012,5', '41,90123456789012'],
  method: ['', '1', '5', '0', '6', '44', 'x', ' 4', '4 '],
  code: ['Z001', 'z001', 'Z01', '', 'Z0011', 'ZZ01'],
  istat: ['094901', '', '94901', '0949011', 'abcdef'],
};
const KIND: Readonly<Record<string, keyof typeof ODD>> = {
  CODICE_COMUNE: 'code', CODICE_ISTAT: 'istat', PROGRESSIVO_NAZIONALE: 'key', PROGRESSIVO_ACCESSO: 'key', CIVICO: 'whole', METRICO: 'whole', PROGRESSIVO_SNC: 'whole',
  COORD_X_COMUNE: 'decimal', COORD_Y_COMUNE: 'decimal', QUOTA: 'decimal', METODO: 'method',
};

function randomLine(random: Random, access: number): string {
  const fields: Partial<Record<(typeof INDIR_COLUMNS)[number], string>> = {
    PROGRESSIVO_ACCESSO: String(access), PROGRESSIVO_NAZIONALE: String(9_000_000 + random.below(4)), COORD_X_COMUNE: `${random.below(20)},${random.below(1e7)}`, CIVICO: String(random.below(100)),
  };
  for (let changes = random.below(3); changes > 0; changes -= 1) {
    const column = random.pick(INDIR_COLUMNS);
    fields[column] = random.pick(ODD[KIND[column] ?? 'text']!);
  }
  const made = line(fields).slice(0, -1);
  // The text is cut by code points, because half of a surrogate pair is not text.
  const letters = Array.from(made);
  return random.below(12) === 0 ? `${letters.slice(0, random.below(letters.length)).join('')}${random.pick([';', '', ';;', 'x'])}` : made;
}

/** Returns the schema's result for one line. */
function law(text: string): { values: Record<string, unknown> } | { code: string } {
  const fields = text.split(';');
  if (fields.length !== INDIR_COLUMNS.length) return { code: 'separator_count' };
  const street = indirStreet.safeParse(record(INDIR_COLUMNS.slice(0, INDIR_STREET_COLUMNS), fields));
  const access = indirAccess.safeParse(record(INDIR_COLUMNS.slice(INDIR_STREET_COLUMNS), fields.slice(INDIR_STREET_COLUMNS)));
  const failure = street.error ?? access.error;
  if (failure !== undefined) {
    const issue = failure.issues[0]!;
    return { code: issue.code === 'custom' ? String(issue.params!['code']) : issue.code };
  }
  const a = access.data!;
  return {
    values: {
      progressivo_accesso: a.PROGRESSIVO_ACCESSO, progressivo_nazionale: street.data!.PROGRESSIVO_NAZIONALE, belfiore: street.data!.CODICE_COMUNE,
      codice_comunale_accesso: a.CODICE_COMUNALE_ACCESSO, civico: a.CIVICO, esponente: a.ESPONENTE, specificita: a.SPECIFICITA, metrico: a.METRICO,
      progressivo_snc: a.PROGRESSIVO_SNC, coord_x: a.COORD_X_COMUNE, coord_y: a.COORD_Y_COMUNE, quota_m: a.QUOTA, metodo: a.METODO,
    },
  };
}

describe('the fast path', () => {
  it.each([1, 2, 3, 4])('gives the same result as the schema for thousands of random lines and any chunk sizes (seed %i)', async (seed) => {
    const random = randomOf('anncsu law', seed);
    const lines = Array.from({ length: 4_000 }, (_, i) => randomLine(random, i + 1));
    const bytes = Buffer.from(`${HEADER}${lines.join('\n')}\n`);
    const path = written(`law-${seed}_20260602.csv`, bytes);
    const file = await inputFile(path, { role: 'INDIR' });
    function* pieces(): Generator<Buffer> {
      for (let at = 0; at < bytes.length;) {
        const size = 1 + random.below(random.below(4) === 0 ? 20_000 : 90);
        yield bytes.subarray(at, at + size);
        at += size;
      }
    }
    // `collect` opens the file by its path. This test replaces the stream by a stream that is cut at random positions.
    const collected = await collect({ ...source, read: (_file, sink) => source.read({ ...file, open: () => Readable.from(pieces()) }, sink) }, path, { role: 'INDIR' });
    const member = collected.members[0]!;
    expect(member.records).toBe(lines.length);
    const rows = new Map(collected.rows['raw_access']!.map((row) => [row['position'], row]));
    const rejects = new Map(member.rejects.map((reject) => [reject.position, reject]));
    expect(rows.size + rejects.size).toBe(lines.length);
    let refused = 0;
    for (const [index, text] of lines.entries()) {
      const expected = law(text);
      if ('code' in expected) {
        refused += 1;
        expect(rejects.get(index + 2)?.code, text).toBe(expected.code);
        expect(rejects.get(index + 2)?.raw).toBe(text);
      } else {
        expect(rows.get(index + 2), text).toMatchObject(expected.values);
        for (const [name, value] of Object.entries(expected.values)) expect(Object.is(rows.get(index + 2)![name], value), `${name} of ${text}`).toBe(true);
      }
    }
    expect(refused).toBeGreaterThan(500);
    expect(refused).toBeLessThan(3_000);
  });
});

// --- load.sql --------------------------------------------------------------------------------------------------------

const STREET_ARRAY = "array['094901', null, 'VIA FINTA', null, null, null, 'Via Finta', null, null]";
const raw = (
  position: number,
  access: number,
  values: { street?: number; belfiore?: string; x?: string; y?: string; metodo?: string; first?: boolean } = {},
): string =>
  `(1, ${position}, ${access}, ${values.street ?? 1}, '${values.belfiore ?? 'Z001'}', null, 7, 'A', null, null, null, ${values.x ?? '14.25'}, ${values.y ?? '41.9'}, 0.5, ${values.metodo ?? '4'},
    ${values.first === true ? `${STREET_ARRAY}, array['odonimo'], array['via'], array['finta']` : 'null, null, null, null'})`;

describeDatabase('loading ANNCSU', (engine) => {
  it('keeps every address, and keeps the point only if the point is plausible', async () => {
    const cases: readonly [Parameters<typeof raw>[2], string][] = [
      [{ first: true }, 'good'], [{ metodo: 'null' }, 'without_method'], [{ x: 'null', y: 'null', metodo: 'null' }, 'none'], [{ x: 'null', y: 'null' }, 'method_without_coordinates'],
      [{ x: 'null' }, 'incomplete'], [{ y: 'null' }, 'incomplete'], [{ x: '0', y: '0' }, 'zero'], [{ x: '41.9', y: '14.25' }, 'swapped'],
      [{ x: '467512.3', y: '4638210.77' }, 'projected'], [{ x: '2.35', y: '48.85' }, 'outside_italy'], [{ x: '6', y: '35' }, 'good'], [{ x: '19', y: '47.5' }, 'good'], [{ x: '19.0001', y: '41' }, 'outside_italy'],
    ];
    const inserts = `insert into raw_access values ${cases.map(([values], index) => raw(index + 2, 1001 + index, values)).join(',\n')};`;
    await loaded(await engine.openDatabase(), 'anncsu_addresses', inserts, async ({ session, checks }) => {
      const rows = await session.query<{ flag: string; point: string | null }>('select coordinate_flag as flag, st_asewkt(geom) as point from accesso order by progressivo_accesso');
      expect(rows.map(({ flag }) => flag)).toEqual(cases.map(([, flag]) => flag));
      expect(rows.map(({ point }) => point !== null)).toEqual(cases.map(([, flag]) => flag === 'good' || flag === 'without_method'));
      expect(rows[0]!.point).toBe('SRID=4326;POINT(14.25 41.9)');
      expect((await checks()).map(({ name }) => name)).toEqual(['coordinates_not_swapped', 'coordinates_believable']);
    });
  });

  it('also loads the streets of INDIR, because a STRAD file may have a different date', async () => {
    const inserts = `insert into raw_access values ${raw(2, 1001, { first: true })}, ${raw(3, 1002)}, ${raw(4, 1003, { street: 2, first: true })};
      insert into raw_street values (2, 2, 2, 'Z001', '094901', null, 'VIA FINTA', null, null, null, 1, 'Via Finta', null, null, array['odonimo'], array['via'], array['finta']),
        (2, 3, 3, 'Z001', '094901', null, 'VIA VUOTA', null, null, null, 0, 'Via Vuota', null, null, array['odonimo'], array['via'], array['vuota']);`;
    await loaded(await engine.openDatabase(), 'anncsu_addresses', inserts, async ({ session, checks }) => {
      expect(await session.query('select progressivo_nazionale::int4 as key, total_accesses from odonimo order by 1')).toEqual([{ key: 2, total_accesses: 1 }, { key: 3, total_accesses: 0 }]);
      expect(await session.query('select progressivo_nazionale::int4 as key, odonimo, display_name, istat_code from odonimo_indir order by 1')).toEqual([
        { key: 1, odonimo: 'VIA FINTA', display_name: 'Via Finta', istat_code: '094901' }, { key: 2, odonimo: 'VIA FINTA', display_name: 'Via Finta', istat_code: '094901' },
      ]);
      expect(await checks()).toEqual([]);
    });
  });

  it('counts repeated accesses and streets as duplicates, rejects the lines of the comune A000, and accounts for every record', async () => {
    const inserts = `insert into raw_access values ${raw(2, 1001, { first: true })}, ${raw(3, 1001, { x: '14.3' })}, ${raw(4, 1002)}, ${raw(5, 1003, { belfiore: 'A000', street: 9, first: true })}, ${raw(6, 1003, { belfiore: 'A000', street: 9 })};
      insert into raw_street values ${[[2, 1, 'Z001'], [3, 1, 'Z001'], [4, 8, 'A000']].map(([position, key, comune]) => `(2, ${position}, ${key}, '${comune}', '094901', 'C7', 'VIA FINTA', null, null, null, 3, 'Via Finta', null, null, array['odonimo'], array['via'], array['finta'])`).join(', ')};`;
    await loaded(await engine.openDatabase(), 'anncsu_addresses', inserts, async ({ session, checks }) => {
      expect(await session.query('select member_id, position::int4 as position, code from duplicate order by 1, 2')).toEqual([
        { member_id: 1, position: 3, code: 'access_repeated' }, { member_id: 2, position: 3, code: 'street_repeated' },
      ]);
      expect(await session.query('select member_id, position::int4 as position, code, raw from reject order by 1, 2')).toEqual([
        { member_id: 1, position: 5, code: 'comune_unknown', raw: 'A000;094901;9;;VIA FINTA;;;;1003;;7;A;;;;14,25;41,9;0,5;4' },
        { member_id: 1, position: 6, code: 'comune_unknown', raw: 'A000;094901;9;;VIA FINTA;;;;1003;;7;A;;;;14,25;41,9;0,5;4' },
        { member_id: 2, position: 4, code: 'comune_unknown', raw: 'A000;094901;8;C7;VIA FINTA;;3;;;' },
      ]);
      expect(await session.query('select member_id, position::int4 as position from accesso union all select member_id, position::int4 from odonimo order by 1, 2')).toEqual([
        { member_id: 1, position: 2 }, { member_id: 1, position: 4 }, { member_id: 2, position: 2 },
      ]);
      expect((await checks()).map(({ name }) => name)).toEqual(['total_accesses_agree']);
    });
  });

  it('compares STRAD with each INDIR file separately', async () => {
    const accesses = [raw(2, 1001, { first: true }), raw(3, 1002)];
    const inserts = `update member set file_id = member_id;
      insert into raw_access values ${[...accesses, ...accesses.map((each) => each.replace('(1,', '(3,'))].join(', ')};
      insert into raw_street values (2, 2, 1, 'Z001', '094901', null, 'VIA FINTA', null, null, null, 2, 'Via Finta', null, null, array['odonimo'], array['via'], array['finta']);`;
    const database = await engine.openDatabase();
    await loaded(database, 'anncsu_addresses', inserts, async ({ checks }) => {
      expect(await checks()).toEqual([]);
    });
    await loaded(database, 'anncsu_addresses', `${inserts} delete from raw_access where member_id = 3 and position = 3;`, async ({ checks }) => {
      expect((await checks()).map(({ name, rows }) => [name, rows])).toEqual([['total_accesses_agree', 1]]);
    });
  });

  it('reports an error if an access names a street of a different comune', async () => {
    const inserts = `insert into raw_access values ${raw(2, 1001, { first: true })}, ${raw(3, 1002, { belfiore: 'Z002', first: true })};`;
    await loaded(await engine.openDatabase(), 'anncsu_addresses', inserts, async ({ checks }) => {
      expect((await checks()).map(({ name, level }) => [name, level])).toEqual([['accesso_street_known', 'error']]);
    });
  });
});

describe('the synthetic addresses', () => {
  it('give rejects and duplicates only for the added quirks', async () => {
    const region = makeRegion({ parcels: 900, seed: 5 });
    await synthetic.write(region, folder);
    const indir = await trial(source, join(folder, 'indirizzarioMolise20260602.zip'));
    expect(indir.recognition).toEqual({ role: 'INDIR', vintage: '2026-06-02', region: 14, complete: true });
    expect(indir.collected!.members[0]!.rejects.map(({ code }) => code)).toEqual(['separator_count', 'civico_malformed', 'metodo_unknown', 'coordinate_malformed', 'encoding_invalid']);
    const strad = await trial(source, join(folder, 'stradarioMolise20260602.zip'));
    expect(strad.collected!.members[0]!.rejects).toEqual([]);
    const total = strad.collected!.rows['raw_street']!.reduce((sum, row) => sum + Number(row['total_accesses']), 0);
    const missing = indir.collected!.rows['raw_access']!.filter(({ progressivo_nazionale }) => progressivo_nazionale === 9_001_001).length;
    // One line repeats another line, one line has no valid comune, and one street is missing from STRAD.
    expect(indir.collected!.rows['raw_access']).toHaveLength(total + missing + 2);
    expect(statSync(join(folder, 'indirizzarioMolise20260602.zip')).size).toBeGreaterThan(5_000);
  });
});
