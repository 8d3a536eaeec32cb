/** Tests that a day that does not exist, such as 31 June, is never the vintage of a file. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { trial, type Trial } from '../harness/trial.ts';

const folder = temporaryFolder();

describe('a day that does not exist', () => {
  /** Replaces the first match of `from` in a copy of a text fixture, and reads the copy. */
  async function edited(id: string, fixture: string, from: RegExp, to: string): Promise<Trial> {
    const text = readFileSync(join(ROOT, `sources/${id}/fixture/${fixture}`), 'latin1');
    expect(text).toMatch(from);
    writeFileSync(join(folder, fixture), text.replace(from, to), 'latin1');
    return trial(await registerSource(id), join(folder, fixture));
  }

  it('is an error in the first line of the fuel stations', async () => {
    const fixture = 'semicolons-until-2026.csv';
    expect((await edited('mimit_fuel', fixture, /2025-03-14/, '2025-06-30')).recognition?.vintage).toBe('2025-06-30');
    for (const day of ['2025-06-31', '31/06/2025']) {
      expect((await edited('mimit_fuel', fixture, /2025-03-14/, day)).error).toMatchObject({ code: 'VINTAGE_MISSING', at: `${fixture}:1`, detail: expect.stringContaining(day) });
    }
  });

  it('is an error with a hint, and with the command that downloads the file again', async () => {
    const fixture = 'without-day-and-header-first.csv';
    const path = join(ROOT, `sources/mimit_fuel/fixture/${fixture}`);
    expect((await trial(await registerSource('mimit_fuel'), path)).error).toMatchObject({
      code: 'VINTAGE_MISSING', hint: expect.stringContaining('"Estrazione del 2026-08-21"'), fix: 'npx mappale fetch REGION --sources mimit_fuel',
    });
  });

  it('counts as missing in the timeStamp of a cadastral document', async () => {
    const dated = /timeStamp="\d{4}-\d{2}-\d{2}/;
    expect((await edited('ade_cadastre', 'parcels.gml', dated, 'timeStamp="2026-06-30')).recognition?.vintage).toBe('2026-06-30');
    expect((await edited('ade_cadastre', 'parcels.gml', dated, 'timeStamp="2026-06-31')).recognition?.vintage).toBe('0000-00-00');
  });

  it('counts as missing in the name of a file of boundaries', async () => {
    for (const [stem, vintage] of [['Com30062025', '2025-06-30'], ['Com31062025', '0000']] as const) {
      for (const extension of ['shp', 'shx', 'dbf', 'prj', 'cpg']) {
        copyFileSync(join(ROOT, `sources/istat_boundaries/fixture/Com01012025_refused.${extension}`), join(folder, `${stem}.${extension}`));
      }
      expect((await trial(await registerSource('istat_boundaries'), join(folder, `${stem}.shp`))).recognition?.vintage).toBe(vintage);
    }
  });
});
