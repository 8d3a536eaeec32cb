import { mkdtempSync, readFileSync, readdirSync, rmSync, copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { maskTaxCode } from '../../pipelines/mask-tax-code.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';

it('the report of an error masks the tax code in the name of a file', () => {
  expect(new MappaleError('zip cannot be read', { code: 'X', kind: 'input', at: 'QIP12_RSSMRA80A01H501U.zip' }).report()).not.toContain('RSSMRA');
});

it('tax codes are masked, even with letters in place of digits, and other long words are kept', () => {
  const random = randomOf('omocodia', testEnvironment().seed);
  // The ministerial decree of 23 December 1976, article 6, replaces the digits 0–9 with these letters, beginning with the last digit.
  const letters = 'LMNPQRSTUV';
  const surname = ['RSSMRA', 'BNCLGU', 'VRDGPP'];
  for (let replaced = 0; replaced <= 7; replaced += 1) {
    let left = replaced;
    const digits = Array.from({ length: 7 }, () => random.below(10)).reverse().map((digit) => (left-- > 0 ? letters[digit]! : String(digit))).reverse().join('');
    const code = `${random.pick(surname)}${digits.slice(0, 2)}${random.pick(Array.from('ABCDEHLMPRST'))}${digits.slice(2, 4)}H${digits.slice(4)}${random.pick(Array.from('ABCDEFGHIJ'))}`;
    for (const written of [code, code.toLowerCase()]) expect(maskTaxCode(`di ${written}, via Roma 1`), written).toBe('di ***, via Roma 1');
  }
  expect(maskTaxCode('AMMINISTRAZIONIX PRECIPITEVOLISSIMEVOLMENTE 1234567890')).toBe('AMMINISTRAZIONIX PRECIPITEVOLISSIMEVOLMENTE 1234567890');
});

describeDatabase('a file with a tax code in its name', (engine) => {
  it('is loaded, and no table of the ledger contains the code', async () => {
    const files = await syntheticFiles(600, 4);
    const folder = mkdtempSync(join(tmpdir(), 'mappale-mask-'));
    try {
      for (const name of readdirSync(files.folder)) {
        if (/^QIP/.test(name)) copyFileSync(join(files.folder, name), join(folder, 'QIP900098_RSSMRA80A01H501U.zip'));
        if (/^Elenco/.test(name)) copyFileSync(join(files.folder, name), join(folder, name));
      }
      expect(readFileSync(join(folder, 'QIP900098_RSSMRA80A01H501U.zip')).length).toBeGreaterThan(0);
      const context = await freshContext(engine);
      const report = await refresh(context, loadOptions([folder], [14]));
      expect(report.loaded.length).toBeGreaterThan(1);
      const tables = await context.database.query<{ name: string }>(
        "select table_name::text as name from information_schema.tables where table_schema = 'ledger'",
      );
      expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['file', 'seen_file', 'member', 'reject', 'release', 'step', 'run']));
      for (const { name } of tables) {
        const rows = await context.database.query(`select to_jsonb(t)::text as row from ledger.${name} t`);
        expect(JSON.stringify(rows), name).not.toContain('RSSMRA');
      }
    } finally {
      await files.remove();
      rmSync(folder, { recursive: true });
    }
  });
});
