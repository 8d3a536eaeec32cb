import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeDatabase } from '../../test/harness/database.ts';
import { createFunctions } from '../../test/harness/functions.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

const folder = temporaryFolder();

describe('MEF files', () => {
  it('are read in the format of 2024, which has a byte order mark, a 53rd column without a name, and a row without a comune', async () => {
    const text = readFileSync(join(FOLDER, 'fixture/header-with-one-cell-more-than-rows.csv'), 'latin1').replaceAll(/^2023;/gm, '2024;');
    const [header = '', first = ''] = text.split(/\r?\n/);
    const width = first.split(';').length;
    const cells = header.split(';').slice(0, width);
    const unplaced = first.split(';').map((cell, column) => (['Codice catastale', 'Codice Istat Comune'].includes(cells[column] ?? '') ? '0' : cells[column] === 'Denominazione Comune' ? 'Mancante/errata' : cell));
    const path = join(folder, 'Redditi_e_principali_variabili_IRPEF_su_base_comunale_CSV_2024.csv');
    await writeFile(path, `\uFEFF${[...cells, ''].join(';')}\r\n${first}\r\n${unplaced.join(';')}\r\n`);
    const { recognition, collected } = await trial(source, path);
    await rm(path);
    expect(cells.length + 1).toBe(53);
    expect(recognition).toMatchObject({ role: 'comunale', vintage: '2024', complete: true });
    expect(collected!.members[0]!.rejects).toEqual([]);
    expect(collected!.rows['raw_income']!.map(({ tax_year, level }) => [tax_year, level])).toEqual([[2024, 'comune'], [2024, 'unplaced']]);
  });

  it.each([
    ['2010', 'Codice Istat', 'minore o uguale a zero'],
    ['2012', 'Codice Istat Comune', 'minore o uguale a zero'],
    ['2014', 'Codice Istat Comune', 'minore di zero'],
  ])('are ignored with a reason in the layout of tax year %s', async (year, code, zero) => {
    const pair = (name: string): string => `${name} - Frequenza;${name} - Ammontare`;
    const words = [
      'Reddito da fabbricati', 'Reddito da lavoro dipendente e assimilati', 'Reddito da pensione', 'Reddito da lavoro autonomo (compresi nulli)',
      'Reddito spettanza imprenditore ordinaria  (compresi nulli)', 'Reddito spettanza imprenditore semplificata (compresi nulli)',
      'Reddito da partecipazione (compresi nulli)', 'Reddito imponibile', 'Imposta netta', 'Reddito imponibile addizionale', 'Addizionale regionale dovuta',
      'Addizionale comunale dovuta',
      ...[zero, 'da 0 a 10000', 'da 10000 a 15000', 'da 15000 a 26000', 'da 26000 a 55000', 'da 55000 a 75000', 'da 75000 a 120000', 'oltre 120000']
        .map((bracket) => `Reddito complessivo ${bracket} euro`),
    ];
    const keys = `Anno di imposta;Codice catastale;${code};Denominazione Comune;Sigla Provincia;Regione;Codice Istat Regione;Numero contribuenti`;
    const path = join(folder, `Redditi_e_principali_variabili_IRPEF_su_base_comunale_CSV_${year}.csv`);
    await writeFile(path, `${[keys, ...words.map(pair)].join(';')}\r\n${year};A001;28001;ABANO TERME;PD;VENETO;5;14792${';1;1'.repeat(words.length)}\r\n`);
    const { recognition, error } = await trial(source, path);
    await rm(path);
    expect(error).toBeNull();
    expect(recognition).toMatchObject({ vintage: year, complete: false });
    expect(recognition?.ignored).toContain('before 2015');
  });

  it('are read up to the last row for every synthetic year', async () => {
    await synthetic.write(makeRegion({ parcels: 2_000, seed: 3 }), folder);
    const found = [];
    for (const name of readdirSync(folder).sort()) {
      const { recognition, collected } = await trial(source, join(folder, name));
      const levels = collected!.rows['raw_income']!.map(({ level }) => level);
      found.push([recognition!.role, recognition!.vintage, levels.filter((level) => level !== 'unplaced').length, levels.filter((level) => level === 'unplaced').length, collected!.members[0]!.rejects.length]);
    }
    expect(found).toEqual([
      ['comunale', '2022', 4, 1, 0],
      ['comunale', '2023', 3, 1, 0],
      ['comunale', '2024', 2, 1, 0],
      ['subcomunale', '2020', 3, 0, 0],
      ['subcomunale', '2023', 3, 0, 0],
    ]);
  });

  it('are rejected if the CAP column or the tax year is missing, or if the level is the province', async () => {
    const [header, row] = readFileSync(join(FOLDER, 'fixture', 'taxpayers-without-a-place.csv'), 'latin1').split('\r\n') as [string, string];
    const province = join(folder, 'provinciale.csv');
    await writeFile(province, `${header.replace('Codice catastale', 'Provincia')}\r\n${row}\r\n`);
    expect((await trial(source, province)).error).toMatchObject({ code: 'COLUMNS_CHANGED', at: 'provinciale.csv:1' });
    const [, name] = readdirSync(folder).filter((each) => /_subcomunale_/.test(each));
    const lines = readFileSync(join(folder, name!), 'latin1').split('\r\n').map((line) => line.split(';'));
    const cap = lines[0]!.indexOf('CAP');
    for (const change of ['removed', 'renamed']) {
      const unnamed = join(folder, `made_cap-${change}.csv`);
      const changed = lines.map((cells, line) => (change === 'removed' ? cells.filter((_, at) => at !== cap) : cells.map((cell, at) => (line === 0 && at === cap ? 'Zona' : cell))));
      await writeFile(unnamed, changed.map((cells) => cells.join(';')).join('\r\n'), 'latin1');
      expect((await trial(source, unnamed)).error).toMatchObject({ code: 'COLUMNS_CHANGED', detail: expect.stringContaining('"CAP"') as unknown });
    }
    const empty = join(folder, 'empty.csv');
    await writeFile(empty, `${header}\r\n`);
    expect((await trial(source, empty)).error).toMatchObject({ code: 'VINTAGE_MISSING' });
  });
});

describeDatabase('the Gini index of brackets', (engine) => {
  type Groups = readonly (number | null)[];
  let gini: (counts: Groups, amounts: Groups, totalCount: number | null, totalAmount: number | null) => Promise<number | null>;

  beforeAll(async () => {
    const database = await engine.openDatabase();
    await database.session(createFunctions);
    gini = async (counts, amounts, totalCount, totalAmount) => {
      const [row] = await database.query<{ g: number | null }>('select core.gini($1::int8[], $2::int8[], $3::int8, $4::int8)::float8 as g', [counts, amounts, totalCount, totalAmount]);
      return row!.g;
    };
  });

  it('is 0 if all groups have the same average income', async () => {
    expect(await gini([null, 10, 20], [null, 1000, 2000], null, null)).toBe(0);
  });

  it('matches values calculated by hand', async () => {
    // Half of the people have no income, so the index is 1 − (0.5 · (0 + 0) + 0.5 · (0 + 1)) = 0.5.
    expect(await gini([10, 10], [0, 1000], 20, 1000)).toBe(0.5);
    // One of four people has half of the income and three share the rest: 1 − (0.75 · 0.5 + 0.25 · 1.5) = 0.25.
    expect(await gini([0, 3, 1], [0, 3, 3], 4, 6)).toBe(0.25);
  });

  it('does not depend on the order of the groups', async () => {
    expect(await gini([0, 1, 3], [0, 3, 3], 4, 6)).toBe(0.25);
  });

  it('counts losses as 0, and excludes the lowest bracket if no total is published', async () => {
    expect(await gini([10, 10], [-500, 1000], 20, 500)).toBe(0.5);
    expect(await gini([10, 10, 10], [-500, 1000, 1000], null, null)).toBe(0);
  });

  it('counts the withheld brackets as one group if a total is published', async () => {
    expect(await gini([null, 3, null], [null, 3, null], 4, 6)).toBe(0.25);
  });

  it('is null if there are fewer than two groups or no income', async () => {
    expect(await gini([null, 10, null], [null, 1000, null], null, null)).toBeNull();
    expect(await gini([5, 5], [-100, 0], 10, -100)).toBeNull();
    expect(await gini([null, null], [null, null], null, null)).toBeNull();
  });
});
