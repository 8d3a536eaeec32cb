import { mkdtempSync, readFileSync, readdirSync, rmSync, copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { contextOn, syntheticFiles, loadOptions } from '../harness/region.ts';

it('an error names the file without the tax code', () => {
  expect(new MappaleError('zip cannot be read', { code: 'X', kind: 'input', at: 'QIP12_RSSMRA80A01H501U.zip' }).report()).not.toContain('RSSMRA');
});

describeDatabase('a file whose name holds a tax code', (engine) => {
  it('is loaded, and no table of the ledger holds the code', async () => {
    const files = await syntheticFiles(600, 4);
    const folder = mkdtempSync(join(tmpdir(), 'mappale-mask-'));
    try {
      for (const name of readdirSync(files.folder)) {
        if (/^QIP/.test(name)) copyFileSync(join(files.folder, name), join(folder, 'QIP900098_RSSMRA80A01H501U.zip'));
        if (/^Elenco/.test(name)) copyFileSync(join(files.folder, name), join(folder, name));
      }
      expect(readFileSync(join(folder, 'QIP900098_RSSMRA80A01H501U.zip')).length).toBeGreaterThan(0);
      const context = await contextOn(await engine.openDatabase());
      const report = await refresh(context, loadOptions([folder], [14]));
      expect(report.loaded.length).toBeGreaterThan(1);
      for (const table of ['file', 'seen_file', 'member', 'release', 'step', 'run']) {
        const rows = await context.database.query(`select to_jsonb(t)::text as row from ledger.${table} t`);
        expect(JSON.stringify(rows), table).not.toContain('RSSMRA');
      }
    } finally {
      await files.remove();
      rmSync(folder, { recursive: true });
    }
  });
});
