import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeXlsx } from '../../pipelines/synthetic/xlsx-writer.ts';
import source from '../../sources/istat_comuni/source.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const path = realData('istat-admin/codes/Elenco-comuni-italiani_2023.csv');

describe('the real list of comuni of 2023', () => {
  it.skipIf(path === null)('has 7,901 comuni, each with a unique cadastral code', async () => {
    const { recognition, collected } = await trial(source, path!);
    expect(recognition).toEqual({ role: 'elenco', vintage: '2023', region: null, complete: true });
    expect(collected!.members[0]).toMatchObject({ records: 7901, rows: 7901, rejects: [], duplicates: [] });
    const rows = collected!.rows['raw_comune']!;
    expect(new Set(rows.map(({ belfiore }) => belfiore)).size).toBe(7901);
    expect(new Set(rows.map(({ istat_code }) => istat_code)).size).toBe(7901);
    expect(rows.filter(({ sigla }) => sigla === 'NA').length).toBe(92);
    expect(rows.filter(({ name_other }) => name_other !== null).length).toBe(124);
    expect(rows.every(({ istat_code, province_historic_code }) => String(istat_code).startsWith(String(province_historic_code)))).toBe(true);
    // In the list of 2023, the code of this comune of Sardinia begins with 111. The comune's code before 2006 begins with 092.
    expect(rows.find(({ belfiore }) => belfiore === 'M025')).toMatchObject({ istat_code: '111106', code_103: '092101', region_code: 20, name: 'Villasor' });
    expect(rows.find(({ belfiore }) => belfiore === 'A952')).toMatchObject({ name: 'Bolzano', name_other: 'Bozen', province_code: '021', capoluogo: true });
  });

  /** Returns the rows of 2023 in the layout of a later year, with codes of NUTS 2024 instead of 2010. From 2026, the layout also has the codes of 2017–2025. */
  function edition(year: number): string[][] {
    const lines = new TextDecoder('windows-1252').decode(readFileSync(path!), { stream: true }).trimEnd().split('\r\n');
    const table = lines.map((line) => line.split(/;(?=(?:[^"]*"[^"]*")*[^"]*$)/).map((cell) => cell.replace(/^"|"$/g, '')));
    return table.map((cells, row) => {
      const [front, nuts2010, nuts2021] = [cells.slice(0, 20), cells.slice(20, 23), cells.slice(23)];
      const nuts2024 = row === 0 ? nuts2010.map((name) => name.replace('2010', '2024')) : nuts2021;
      const of2017 = row === 0 ? 'Codice Comune numerico con 107 Province (dal 2017 al 2025)' : cells[15] ?? '';
      return [...front.slice(0, 16), ...(year >= 2026 ? [of2017] : []), ...front.slice(16), ...nuts2021, ...nuts2024];
    });
  }

  it.skipIf(path === null).each([2024, 2025, 2026])('gives the same comuni in the layout of %d, as CSV in UTF-8, as CSV in windows-1252 and as a workbook', async (year) => {
    const folder = mkdtempSync(join(tmpdir(), 'mappale-comuni-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const table = edition(year);
    const text = table.map((cells) => cells.map((cell) => (/[\n;]/.test(cell) ? `"${cell}"` : cell)).join(';')).join('\r\n');
    const [utf8, ansi, workbook] = [`Elenco-comuni-italiani_${year}.csv`, `Elenco-comuni-italiani-${year}.csv`, 'Elenco-comuni-italiani.xlsx'].map((name) => join(folder, name)) as [string, string, string];
    writeFileSync(utf8, `\ufeff${text}`);
    const letters = new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte), { stream: true });
    writeFileSync(ansi, Uint8Array.from(Array.from(text), (letter) => letters.indexOf(letter)));
    await writeXlsx(workbook, `CODICI al 01_01_${year}`, [...table, [], ['(1) Nota del prospetto.']]);
    const was = (await trial(source, path!)).collected!.rows['raw_comune']!;
    for (const [file, vintage] of [[utf8, String(year)], [ansi, String(year)], [workbook, `${year}-01-01`]] as const) {
      const { recognition, collected, error } = await trial(source, file);
      expect(error).toBeNull();
      expect(recognition).toMatchObject({ role: 'elenco', vintage, complete: true });
      expect(collected!.members[0]).toMatchObject({ records: 7901, rows: 7901, rejects: [] });
      const rows = collected!.rows['raw_comune']!;
      const values = (each: Record<string, unknown>): unknown => ({ ...each, position: null, code_107_2017: null });
      expect(rows.map(values)).toEqual(was.map(values));
      expect(rows.every((row) => row['code_107_2017'] === (year === 2026 ? row['istat_code'] : null))).toBe(true);
    }
  });
});
