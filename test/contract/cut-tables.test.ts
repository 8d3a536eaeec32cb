/** Tests that no reader loads a table that ends inside a line, and that every reader loads a complete table without a last line end. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { trial, type Trial } from '../harness/trial.ts';

const folder = temporaryFolder();
const sources = await loadSources();
const TABLE = /\.(?:csv|txt)$/i;
const LF = 0x0a;
/** Fixtures of EGMS in which records have fewer columns than the header. The reader of EGMS compares the last line with the header only. */
const NARROW = /^(?:column-unknown|merged-tiles)_U\.csv$/;

/** Reads a file with this content under the name of a fixture. */
function read(source: RegisteredSource, name: string, content: Buffer): Promise<Trial> {
  const path = join(folder, name);
  writeFileSync(path, content);
  return trial(source, path);
}

function recordsOf({ collected }: Trial): { rows: number; rejects: number } {
  const members = collected?.members ?? [];
  return { rows: members.reduce((sum, { rows }) => sum + rows, 0), rejects: members.reduce((sum, { rejects }) => sum + rejects.length, 0) };
}

/** Returns the tables with an accepted record among the fixtures of a source, with their content up to the last accepted line. */
async function tablesOf(source: RegisteredSource): Promise<{ name: string; content: Buffer; start: number }[]> {
  const at = join(ROOT, 'sources', source.id, 'fixture');
  const found = [];
  for (const name of readdirSync(at).filter((each) => TABLE.test(each) && !NARROW.test(each)).sort()) {
    const content = readFileSync(join(at, name));
    const { collected } = await trial(source, join(at, name));
    if (collected === null) continue;
    const accepted = Object.values(collected.rows).flat().map(({ position }) => Number(position));
    if (accepted.length === 0) continue;
    const last = Math.max(...accepted);
    let [start, line] = [0, 1];
    while (line < last && start < content.length) [start, line] = [content.indexOf(LF, start) + 1, line + 1];
    const end = content.indexOf(LF, start);
    found.push({ name, content: content.subarray(0, end === -1 ? content.length : end), start });
  }
  return found;
}

/** Ids of sources with a refused table. */
const refused = new Set<string>();

describe.each(sources.map((source) => [source.id, source] as const))('the tables of %s', (_id, source) => {
  it('are refused if the file ends inside the last line, and loaded if only the last line end is missing', async () => {
    for (const { name, content, start } of await tablesOf(source)) {
      const line = content.toString('latin1', start);
      // Cuts the last line before its last separator, because a cut in the last column is not detectable.
      const separator = Math.max(...[';', ',', '|', '\t', ' '].map((each) => line.trimEnd().lastIndexOf(each)));
      const cut = start + Math.min(Math.floor(line.length / 2), separator);
      const { error, recognition } = await read(source, name, content.subarray(0, cut));
      // A table of one line may not be recognised without the line.
      if (recognition === null && error === null) continue;
      const code = expect.stringMatching(/^(?:[A-Z]+_TRUNCATED|CSV_MALFORMED|VINTAGE_MISSING)$/) as string;
      expect(error, name).toMatchObject({ code, detail: expect.stringMatching(/^expected .* found\b/) as string });
      refused.add(source.id);
      const whole = recordsOf(await read(source, name, Buffer.concat([content, Buffer.from('\n')])));
      expect(recordsOf(await read(source, name, content)), name).toEqual(whole);
      expect(whole.rows, name).toBeGreaterThan(0);
    }
  });
});

it('covers every source with a text table', () => {
  expect([...refused].sort()).toEqual([
    'anncsu_addresses', 'dpc_seismic', 'egms_vertical', 'ingv_mps04', 'istat_census', 'istat_comuni', 'istat_soppressi', 'mef_income', 'mic_places', 'mim_schools',
    'mimit_fuel', 'omi_quotations', 'postal_codes', 'salute_pharmacies',
  ]);
});
