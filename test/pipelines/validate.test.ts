import { execFile } from 'node:child_process';
import { copyFileSync, createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { SaxesParser } from 'saxes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { KeySet } from '../../pipelines/operate/key-set.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { validate, type FileVerdict } from '../../pipelines/operate/validate.ts';
import { PROGRAM } from '../harness/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'mappale-validate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const sources = await loadSources();
const fixture = (path: string): string => join(ROOT, 'sources', path.replace('/', '/fixture/'));
const GOOD = fixture('dpc_seismic/several-zones_2024.csv');
const CHANGED = fixture('dpc_seismic/made_column-renamed_2026.csv');
const ADDED = fixture('dpc_seismic/made_column-added_2026.csv');
const REFUSED = fixture('dpc_seismic/refused-rows_2024.csv');

const run = promisify(execFile);
/** Runs the command and returns its standard output and exit code. */
async function mappale(...options: string[]): Promise<{ code: number; out: string }> {
  try {
    const { stdout } = await run(process.execPath, [PROGRAM, 'validate', ...options], { maxBuffer: 32 * 1024 * 1024 });
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { code, out: stdout };
  }
}

describe('the report of validate', () => {
  it('in the format text contains the file, counts, location, difference and hint, and the exit code is 0 or 3', async () => {
    const good = await mappale(GOOD);
    expect(good.code).toBe(0);
    expect(good.out).toMatch(/^ok +.*several-zones_2024\.csv \(dpc_seismic comuni 2024\): \d+ records = \d+ rows \+ 0 rejects \+ 0 duplicates/);
    const bad = await mappale(GOOD, CHANGED);
    expect(bad.code).toBe(3);
    expect(bad.out).toContain('error: the columns have changed [COLUMNS_CHANGED]');
    expect(bad.out).toContain('at: made_column-renamed_2026.csv:1');
    expect(bad.out).toContain('new: "ZONA"');
    expect(bad.out).toContain('hint: Use the downloaded file');
  });

  it('in the format json is the list of verdicts, and --json gives the same list', async () => {
    const [byFormat, byFlag] = [await mappale('--format', 'json', CHANGED), await mappale('--json', CHANGED)];
    expect(byFormat).toEqual(byFlag);
    expect(byFormat.code).toBe(3);
    expect(JSON.parse(byFormat.out)).toMatchObject([{ path: CHANGED, source: 'dpc_seismic', ok: false, findings: [{ level: 'error', code: 'COLUMNS_CHANGED', at: 'made_column-renamed_2026.csv:1' }] }]);
  });

  it('in every format names an added column, with exit code 3, but only text and json include values of the column', async () => {
    const value = '0.2';
    const text = await mappale(ADDED);
    expect(text.code).toBe(3);
    expect(text.out).toMatch(/^warn +.*made_column-added_2026\.csv \(dpc_seismic comuni 2026\): 1 records = 1 rows/);
    expect(text.out).toContain('warning: the file has a column that this version does not read: "PGA" [COLUMNS_ADDED]');
    expect(text.out).toContain(`values: "${value}"`);
    const json = await mappale('--json', ADDED);
    expect(json.code).toBe(3);
    expect(JSON.parse(json.out)).toMatchObject([{ ok: false, rows: 1, findings: [{ level: 'warn', code: 'COLUMNS_ADDED', file: 'made_column-added_2026.csv', column: 'PGA', samples: [value] }] }]);
    const junit = await mappale('--format', 'junit', ADDED);
    expect(junit.code).toBe(3);
    expect(junit.out).toMatch(/<failure message="[^"]*PGA[^"]*\[COLUMNS_ADDED\]">/);
    const github = await mappale('--format', 'github', ADDED);
    expect(github.code).toBe(3);
    expect(github.out).toMatch(/^::warning file=.*,title=COLUMNS_ADDED::.*PGA/);
    for (const { out } of [junit, github]) expect(out).not.toContain(`"${value}"`);
  });

  it('in the format junit is well-formed for any file name, with a test case for each file and a failure for each error', async () => {
    const odd = join(folder, 'a & b <c> "d" 2024.csv');
    copyFileSync(CHANGED, odd);
    const { code, out } = await mappale('--format', 'junit', GOOD, odd);
    expect(code).toBe(3);
    const tags: { name: string; attributes: Record<string, string> }[] = [];
    let text = '';
    const parser = new SaxesParser();
    parser.on('error', (error) => {
      throw error;
    });
    parser.on('opentag', ({ name, attributes }) => tags.push({ name, attributes: { ...attributes } }));
    parser.on('text', (piece) => (text += piece));
    parser.write(out).close();
    // Files are sorted by path, and paths differ between checkouts.
    const failure = tags.findIndex(({ name }) => name === 'failure');
    expect(tags.map(({ name }) => name).sort()).toEqual(['failure', 'testcase', 'testcase', 'testsuite']);
    expect(tags[0]!.attributes).toMatchObject({ tests: '2', failures: '1' });
    expect(tags[failure - 1]!.attributes).toMatchObject({ classname: 'dpc_seismic', name: 'a & b <c> "d" 2024.csv' });
    expect(tags[failure]!.attributes['message']).toBe('the columns have changed [COLUMNS_CHANGED]');
    expect(text).toContain('new: "ZONA"');
  });

  it('in the format github has one line for each annotation, with the file, the code and, if known, the line number', async () => {
    const { code, out } = await mappale('--format', 'github', CHANGED, REFUSED);
    expect(code).toBe(3);
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^::error file=.*made_column-renamed_2026\.csv,line=1,title=COLUMNS_CHANGED::the columns have changed%0A/);
    for (const line of lines) expect(line).toMatch(/^::(?:error|warning) file=[^,]+(?:,line=\d+)?,title=\w+::/);
  });

  it('is refused as a usage error if the format is unknown or a file is missing', async () => {
    expect((await mappale('--format', 'yaml', GOOD)).code).toBe(2);
    expect((await mappale(join(folder, 'nowhere.csv'))).code).toBe(2);
  });
});

describe('the files that validate reads', () => {
  it('are all known files in a folder, and an unknown file is an error with a hint only if it is named', async () => {
    const place = join(folder, 'mixed');
    mkdirSync(place);
    copyFileSync(GOOD, join(place, 'several-zones_2024.csv'));
    const stranger = join(place, 'leggimi.md');
    writeFileSync(stranger, '# Appunti\n');
    const inFolder = await validate([place], sources, null, () => undefined);
    expect(inFolder.map(({ source, ok }) => [source, ok])).toEqual([[null, true], ['dpc_seismic', true]]);
    const [named] = await validate([stranger], sources, null, () => undefined);
    expect(named).toMatchObject({ ok: false, findings: [{ code: 'FILE_UNKNOWN', detail: expect.any(String), hint: expect.any(String) }] });
  });

  it('may be in a zip, and an added column is reported with the zip and the path in the zip', async () => {
    const path = join(folder, 'Redditi_e_principali_variabili_IRPEF_su_base_comunale_CSV_2023.zip');
    await writeZip(path, [['redditi.csv', readFileSync(fixture('mef_income/made_column-added.csv'))]]);
    const [verdict] = await validate([path], sources, null, () => undefined);
    expect(verdict).toMatchObject({ source: 'mef_income', ok: false });
    // ENVELOPE is reported because the test file has fewer records than the publisher's file.
    expect(verdict!.findings.map(({ code, column, samples, at }) => ({ code, column, samples, at }))).toEqual([
      { code: 'COLUMNS_ADDED', column: 'Cedolare secca - Frequenza', samples: ['4'], at: expect.stringMatching(/_2023\.zip!redditi\.csv$/) },
      { code: 'ENVELOPE', at: expect.stringMatching(/_2023\.zip$/) },
    ]);
  });

  it('do not include ignored files, which cause exit code 3 with a reason if they are named, and otherwise only a note', async () => {
    const place = join(folder, 'aside');
    mkdirSync(place);
    const census = join(place, 'R14_indicatori_2011_sezioni.csv');
    writeFileSync(census, 'CODREG;REGIONE;CODPRO;PROVINCIA;CODCOM;COMUNE;PROCOM;SEZ2011;NSEZ;P1;P2\r\n14;Molise;70;Campobasso;1;Finto;70001;700010000001;1;10;5\r\n');
    copyFileSync(GOOD, join(place, 'several-zones_2024.csv'));
    const named = await mappale(census);
    expect(named.code).toBe(3);
    expect(named.out).toMatch(/^FAIL +.*R14_indicatori_2011_sezioni\.csv/);
    expect(named.out).toMatch(/error: the file is known, but mappale does not read it: .*2011.*\[LEFT_ASIDE\]/);
    expect(named.out).not.toMatch(/ok |0 records/);
    const inFolder = await mappale(place);
    expect(inFolder.code).toBe(0);
    expect(inFolder.out).toMatch(/aside .*R14_indicatori_2011_sezioni\.csv \(istat_census\): the file is known, but mappale does not read it: /);
    expect(inFolder.out).not.toContain('0 records');
  });

  it('are reported without tax codes, even if they are named', async () => {
    const path = join(folder, 'appunti_RSSMRA80A01H501U.md');
    writeFileSync(path, '# Appunti\n');
    const { code, out } = await mappale(path);
    expect(code).toBe(3);
    expect(out).not.toContain('RSSMRA80A01H501U');
  });

  it('include the seismic classification of 2020, which is a workbook', async () => {
    const { code, out } = await mappale(fixture('dpc_seismic/layout-2020-workbook.xlsx'));
    expect(code).toBe(0);
    expect(out).toContain('dpc_seismic comuni 2020');
    expect(out).toContain('5 rows + 1 rejects');
  });

  it('fail if more than 10 records and more than 0.50 % are rejected, or if no record is usable, and the messages state the counts', async () => {
    const header = 'REGIONE;PROV_CITTA_METROPOLITANA;SIGLA_PROV;COMUNE;COD_ISTAT_COMUNE;ZONA_SISMICA\r\n';
    const row = (code: number, zone: string): string => `MOLISE;Campobasso;CB;Finto;${code};${zone}\r\n`;
    const write = (good: number, bad: number): string => {
      const path = join(folder, `zone_${good}_${bad}_2024.csv`);
      writeFileSync(path, header + Array.from({ length: good }, (_, i) => row(70_001 + i, '3')).join('') + Array.from({ length: bad }, (_, i) => row(71_001 + i, '9')).join(''));
      return path;
    };
    const [few] = await validate([write(7, 1)], sources, null, () => undefined);
    expect(few).toMatchObject({ ok: true, findings: [{ level: 'warn', code: 'label_invalid', detail: 'expected at most 10 refused records or 0.50 % of all records, found 1 of 8 (12.50 %)' }] });
    const [many] = await validate([write(100, 11)], sources, null, () => undefined);
    expect(many).toMatchObject({ ok: false, findings: [{ level: 'error', detail: 'expected at most 10 refused records or 0.50 % of all records, found 11 of 111 (9.91 %)' }] });
    const [none] = await validate([write(0, 3)], sources, null, () => undefined);
    expect(none).toMatchObject({ ok: false, findings: [{ level: 'error', detail: 'expected usable records, found 3 of 3 records refused' }] });
  });

  it('may have cells without a value (NaN, −9999), which are reported and do not cause an error', async () => {
    const header = readFileSync(fixture('egms_vertical/EGMS_L3_E46N20_100km_U_2018_2022_1.csv'), 'utf8').split('\n', 1)[0] ?? '';
    const columns = header.trim().split(',').length;
    const line = (index: number, velocity: string): string => ['3OaTn5TNYv', 4_650_050 + 100 * (index % 500), 2_050_050 + 100 * Math.floor(index / 500), '12.3', '1.4', velocity, '0.1', '-0.25', ...Array.from({ length: columns - 8 }, () => '0.1')].join(',');
    const path = join(folder, 'EGMS_L3_E46N20_100km_U_2020_2024_2.csv');
    writeFileSync(path, `${header.trim()}\n${Array.from({ length: 2_000 }, (_, i) => line(i, i % 2 === 0 ? '-3.2' : i % 4 === 1 ? 'NaN' : '-9999')).join('\n')}\n`);
    const [verdict] = await validate([path], sources, null, () => undefined);
    expect(verdict).toMatchObject({ ok: true, vintage: '2020_2024', rows: 1000, rejects: 1000, findings: [{ level: 'warn', code: 'no_data', message: expect.stringContaining('1000 records without a value'), detail: expect.stringContaining('1000 of 2000') }] });
  });
});

describe('names that were encoded twice', () => {
  const STRAD = 'CODICE_COMUNE;CODICE_ISTAT;PROGRESSIVO_NAZIONALE;CODICE_COMUNALE;ODONIMO;LOCALITA\';TOTALE_ACCESSI;DIZIONE_LINGUA1;DIZIONE_LINGUA2;\n';
  const streets = (names: readonly string[]): string => STRAD + names.map((name, index) => `Z001;094901;${index + 1};;${name};;0;;;\n`).join('');

  it.each([
    ['one name, and no other accent in the file', ['VIA ROMA', 'VIA I\u00c2\u00b0 MAGGIO', 'PIAZZA GARIBALDI']],
    ['two names among many correct ones', ['VIA I\u00c2\u00b0 MAGGIO', 'VIA CIR\u00c3\u00b2', ...Array.from({ length: 20 }, (_, i) => `LOCALIT\u00c0 ${i}`)]],
  ])('are kept, with a warning that they come from the publisher: %s', async (_words, names) => {
    const path = join(folder, 'STRAD_MOLI_20260602.csv');
    writeFileSync(path, streets(names));
    const [verdict] = await validate([path], sources, null, () => undefined);
    expect(verdict).toMatchObject({ ok: true, rows: names.length, rejects: 0 });
    const [finding] = verdict?.findings ?? [];
    expect(finding).toMatchObject({ level: 'warn', code: 'ENCODED_TWICE', hint: expect.stringContaining('come from the publisher') });
    expect(verdict?.findings.map(({ hint }) => hint).join()).not.toContain('Use the downloaded file');
  });

  it('are an error if they occur throughout the file, with the hint to use the downloaded file', async () => {
    const path = join(folder, 'STRAD_MOLI_20260703.csv');
    writeFileSync(path, Buffer.from(Buffer.from(streets(['VIA CIR\u00d2', 'VIA PER\u00d2', 'LOCALIT\u00c0 FINTA', 'VIA FORL\u00cc']), 'utf8').toString('latin1'), 'utf8'));
    const [verdict] = await validate([path], sources, null, () => undefined);
    expect(verdict).toMatchObject({ ok: false, findings: [{ level: 'error', code: 'ENCODING_WRONG', hint: expect.stringContaining('Use the downloaded file') }] });
  });

  it('are kept in a list of comuni, with a warning', async () => {
    const path = join(folder, 'zone_doppie_2024.csv');
    writeFileSync(path, 'REGIONE;PROV_CITTA_METROPOLITANA;SIGLA_PROV;COMUNE;COD_ISTAT_COMUNE;ZONA_SISMICA\r\nMOLISE;Campobasso;CB;Forl\u00c3\u00ac Finto;70001;3\r\n');
    const [verdict] = await validate([path], sources, null, () => undefined);
    expect(verdict).toMatchObject({ ok: true, rows: 1, findings: [{ level: 'warn', code: 'ENCODED_TWICE' }] });
  });
});

describe('reading a part of a file', () => {
  it('stops after the number of records of --sample, and reports that only the first records were read', async () => {
    const path = join(folder, 'comuni-soppressi.csv');
    const [header, row] = ['Anno;Sigla Automobilistica;Codice Unità territoriale sovracomunale (Uts);Codice Comune;Denominazione Comune;Comune soppresso per scorporo;Data evento;Codice del Comune associato alla variazione;Denominazione Comune associato alla variazione;Codice Unità territoriale sovracomunale associato alla variazione;Sigla Automobilistica associata alla variazione', (code: number) => `2024;CB;070;${String(code).padStart(6, '0')};Finta;;22/01/2024;070902;Altrove;070;CB`];
    writeFileSync(path, `${header}\n${Array.from({ length: 500 }, (_, index) => row(70_000 + index)).join('\n')}\nrotto;ultimo\n`);
    const [sampled] = await validate([path], sources, 100, () => undefined);
    expect(sampled).toMatchObject({ ok: true, sampled: true, rows: 100, findings: [] });
    const [whole] = await validate([path], sources, null, () => undefined);
    expect(whole).toMatchObject({ sampled: false, records: 501, rows: 500, rejects: 1, findings: [{ code: 'column_count', at: 'comuni-soppressi.csv:502' }, { level: 'warn', code: 'ENVELOPE' }] });
    expect((await mappale('--sample', '100', path)).out).toContain('first records only');
  });
});

describe('repeated keys', () => {
  it('are found among a million rows in less than 96 MiB', () => {
    const columns = { code: 'text', year: 'int2', name: 'text' } as const;
    const keys = new KeySet(columns, ['code', 'year']);
    const writer = new RowWriter(columns, (chunk) => keys.addRows(chunk, 'x.csv'));
    const before = process.memoryUsage().arrayBuffers;
    for (let row = 0; row < 1_000_000; row += 1) writer.row(row + 2, [String(row % 999_990), 2024, 'same']);
    writer.row(1_000_002, ['5', 2025, 'same']);
    writer.flush();
    expect(keys.repeated).toBe(10);
    expect(keys.examples).toEqual(['x.csv:999992', 'x.csv:999993', 'x.csv:999994']);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(96 * 1024 * 1024);
  });

  describe('in a file of a million cells', () => {
    const path = join(folder, 'EGMS_L3_E46N20_100km_U_2020_2024_1.csv');
    beforeAll(async () => {
      const file = createWriteStream(path);
      file.write('pid,easting,northing,height,rmse,mean_velocity,mean_velocity_std,acceleration,acceleration_std,seasonality,seasonality_std\n');
      for (let north = 0; north < 1000; north += 1) {
        let lines = '';
        for (let east = 0; east < 1000; east += 1) lines += `3OaTn5TNYv,${4_600_050 + east * 100},${2_000_050 + (north === 999 ? 0 : north) * 100},12.3,1.1,-0.5,0.1,0,0,1,0\n`;
        if (!file.write(lines)) await new Promise<void>((resume) => file.once('drain', resume));
      }
      file.end();
      await finished(file);
    });

    it('are counted in a warning that names the key columns and the first repeated lines', async () => {
      let peak = 0;
      const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 50);
      const before = process.memoryUsage().rss;
      const [verdict] = (await validate([path], sources, null, () => undefined)) as [FileVerdict];
      clearInterval(timer);
      expect(verdict).toMatchObject({ ok: true, records: 1_000_000, rows: 1_000_000 });
      expect(verdict.findings).toMatchObject([{ level: 'warn', code: 'KEY_REPEATED', message: '1000 rows of raw_egms_cell repeat the key (easting, northing)', at: expect.stringMatching(/^EGMS_L3_E46N20_100km_U_2020_2024_1\.csv:999002, /) }]);
      expect(peak - before).toBeLessThan(400 * 1024 * 1024);
    });
  });
});
