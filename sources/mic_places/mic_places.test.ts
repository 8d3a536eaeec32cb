import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { currentFiles, type LoadedFile } from '../../pipelines/ledger/current-files.ts';
import source from './source.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

describe('the query result and the ministry\'s list', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mappale-mic-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Copies a fixture under a name, recognises the copy, and returns it as a loaded file with the given places. */
  async function loaded(fileId: number, fixture: string, name: string, places: readonly string[]): Promise<LoadedFile> {
    copyFileSync(join(FOLDER, 'fixture', fixture), join(folder, name));
    const { recognition } = await trial(source, join(folder, name));
    const { role, vintage, dated = null, region, complete } = recognition!;
    return {
      fileId, releaseId: fileId, sourceId: 'mic_places', role, vintage, dated, region, assigned: null, complete, place: null, name, sha256: name, reader: 'r', present: true, arrived: fileId,
      forgotten: false, refersTo: [], held: [{ layer: 'cultural_place', series: '', region: null, likelyRegion: null, dated: null, named: true, places }],
    };
  }

  /** Returns the current files, the number of ties and the roles for a list and a query result with the given days. */
  async function active(listDay: string, answerDay: string): Promise<{ names: string[]; ties: number; roles: string[] }> {
    const list = await loaded(1, 'made_published-list.csv', `datasetLuoghiDellaCultura_${listDay}.csv`, ['CB campo finto', 'CB solo elenco']);
    const answer = await loaded(2, 'made_query-answer.csv', `luoghi_della_cultura_${answerDay}.csv`, ['CB campo finto', 'CB solo risposta']);
    const { files, ties } = currentFiles([list, answer], { id: 'mic_places', manifest: source.manifest }, { region: 14, layer: 'cultural_place', register: new Map() });
    return { names: files.map(({ file: { name } }) => name), ties: ties.length, roles: [list.role, answer.role] };
  }

  it('are two roles of one series, and only the query result is used if both have the same day', async () => {
    expect(await active('20261101', '20261101')).toEqual({ names: ['luoghi_della_cultura_20261101.csv'], ties: 0, roles: ['published', 'places'] });
  });

  it('are compared by their days, and the newer file supersedes the older file', async () => {
    expect((await active('20261102', '20261101')).names).toEqual(['datasetLuoghiDellaCultura_20261102.csv']);
    expect((await active('20261101', '20261102')).names).toEqual(['luoghi_della_cultura_20261102.csv']);
  });

  it('have envelopes that accept up to 100,000 places', () => {
    expect(Object.values(source.manifest.envelope.records ?? {}).map(({ max }) => max)).toEqual([100_000, 100_000]);
  });
});
