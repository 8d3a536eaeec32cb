import { describe, expect, it } from 'vitest';
import source from '../../sources/istat_comuni/source.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const path = realData('istat-admin/codes/Elenco-comuni-italiani_2023.csv');

describe('the real list of comuni of 2023', () => {
  it.skipIf(path === null)('is read whole: 7,901 comuni, 1:1 with cadastral codes', async () => {
    const { recognition, collected } = await trial(source, path!);
    expect(recognition).toEqual({ role: 'elenco', vintage: '2023', region: null, complete: true });
    expect(collected!.members[0]).toMatchObject({ records: 7901, rows: 7901, rejects: [], duplicates: [] });
    const rows = collected!.rows['raw_comune']!;
    expect(new Set(rows.map(({ belfiore }) => belfiore)).size).toBe(7901);
    expect(new Set(rows.map(({ istat_code }) => istat_code)).size).toBe(7901);
    expect(rows.filter(({ sigla }) => sigla === 'NA').length).toBe(92);
    expect(rows.filter(({ name_other }) => name_other !== null).length).toBe(124);
    expect(rows.every(({ istat_code, province_historic_code }) => String(istat_code).startsWith(String(province_historic_code)))).toBe(true);
    // A comune of Sardinia: 111 in force, 092 before 2006.
    expect(rows.find(({ belfiore }) => belfiore === 'M025')).toMatchObject({ istat_code: '111106', code_103: '092101', region_code: 20, name: 'Villasor' });
    expect(rows.find(({ belfiore }) => belfiore === 'A952')).toMatchObject({ name: 'Bolzano', name_other: 'Bozen', province_code: '021', capoluogo: true });
  });
});
