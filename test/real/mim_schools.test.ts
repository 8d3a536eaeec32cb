import { describe, expect, it } from 'vitest';
import source from '../../sources/mim_schools/source.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const FILE = realData('poi/SCUANAAUTSTAT20202120200901.csv');

interface School extends Record<string, unknown> {
  readonly school_id: string;
  readonly region_code: number | null;
  readonly address: string | null;
  readonly number: number | null;
  readonly street_words: readonly string[];
  readonly comune_key: string;
}

describe('the real schools of Aosta, Trento and Bolzano', () => {
  it.skipIf(FILE === null)('have 1,208 rows without rejects, each in one of two regions', async () => {
    const { recognition, collected } = await trial(source, FILE!);
    expect(recognition).toEqual({ role: 'AUTSTAT', vintage: '2020_2021', dated: '2020-09-01', region: null, complete: true });
    const [member] = collected!.members;
    expect([member!.records, member!.rejects]).toEqual([1_208, []]);
    const rows = collected!.rows['raw_school'] as School[];
    expect(new Set(rows.map(({ school_id }) => school_id)).size).toBe(1_208);
    expect([2, 4, null].map((code) => rows.filter(({ region_code }) => region_code === code).length)).toEqual([225, 983, 0]);
    expect(rows.every(({ comune_key }) => comune_key !== '' && !comune_key.includes('*'))).toBe(true);
  });

  it.skipIf(FILE === null)('have a street and a number for most stated addresses, with or without a comma', async () => {
    const rows = (await trial(source, FILE!)).collected!.rows['raw_school'] as School[];
    const stated = rows.filter(({ address }) => address !== null);
    const numbered = stated.filter(({ number, street_words }) => number !== null && street_words.length > 0);
    expect([rows.length, stated.length, numbered.length]).toEqual([1_208, 934, 844]);
    // A number is read from every address that ends with a number, except two addresses. In these two, the number is part of the road's name.
    expect(stated.filter(({ address, number }) => /[a-z] *[, ] *\d{1,3}$/i.test(address!) && number === null).map(({ address }) => address)).toEqual(['STRADA STATALE 9', 'STRADA STATALE 9']);
  });
});
