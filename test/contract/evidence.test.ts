/** Tests the evidence for the format of each source. The notes state the evidence, which is also printed by `mappale sources`. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { evidenceLine, readEvidence } from '../../pipelines/contract/evidence.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { ROOT } from '../../pipelines/config.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { childEnvironment, testEnvironment } from '../harness/environment.ts';
import { PROGRAM } from '../harness/program.ts';

const sources = await loadSources();
const notesOf = (id: string): string => readFileSync(join(ROOT, 'sources', id, 'notes.md'), 'utf8');
const { seed } = testEnvironment();

/** Reads the items of the evidence section without the parser under test. */
function written(notes: string): string[] {
  const lines = notes.slice(notes.indexOf('\n## Evidence\n') + 1).split('\n').slice(1);
  const end = lines.findIndex((line) => line.startsWith('## '));
  return lines.slice(0, end === -1 ? undefined : end).join('\n').trim().split(/\n- |^- /).filter((item) => item !== '').map((item) => item.replace(/\s+/g, ' '));
}

async function printed(...words: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'sources', ...words], { cwd: ROOT, env: childEnvironment({}) });
  return JSON.parse(stdout);
}

describe.each(sources.map(({ id }) => id))('the notes of %s', (id) => {
  it('state the evidence from real bytes, a verbatim header and a document, with dates', () => {
    const items = written(notesOf(id));
    expect(items.map((item) => item.split(':')[0])).toEqual(['Real bytes', 'Verbatim header', 'Document']);
    for (const item of items) expect(item).toMatch(/^[^:]+: (?:none$|.*(?:(?<!\d)(?:19|20)\d\d(?!\d)|\bundated\b))/);
    const { bytes, header, document } = readEvidence(notesOf(id), id);
    expect([bytes, header, document].map((value) => value ?? 'none')).toEqual(items.map((item) => item.slice(item.indexOf(': ') + 2)));
  });

  it('never use words such as verified or confirmed', () => {
    expect(written(notesOf(id)).join('\n')).not.toMatch(/\b(?:verif(?:y|ied)|confirmed|guaranteed)\b/i);
  });
});

it('the notes state for some sources that no real file was seen', () => {
  const unseen = ['ispra_flood', 'ispra_landslide', 'ispra_shoreline', 'ingv_mps04', 'viirs_nightlights', 'tinitaly_dem', 'copernicus_dem', 'igm_dbsn', 'bolzano_cadastre', 'salute_pharmacies'];
  for (const id of unseen) expect(readEvidence(notesOf(id), id).bytes, id).toBeNull();
  for (const id of ['egms_vertical', 'omi_quotations', 'trento_cadastre', 'mef_income']) expect(readEvidence(notesOf(id), id).bytes, id).not.toBeNull();
});

describe('mappale sources', () => {
  it('prints the evidence of one source in one line, with --json and without', async () => {
    const { id } = randomOf('evidence', seed).pick(sources);
    const line = evidenceLine(readEvidence(notesOf(id), id));
    expect(line).not.toContain('\n');
    for (const words of [[id], [id, '--json']]) expect(await printed(...words), `MAPPALE_TEST_SEED=${seed}`).toMatchObject({ id, evidence: line });
  });

  it('prints the evidence of all sources', async () => {
    const all = await printed('--json') as readonly { readonly id: string; readonly evidence: string }[];
    expect(all.map(({ id, evidence }) => [id, evidence])).toEqual(sources.map(({ id }) => [id, written(notesOf(id)).map((item) => `${item[0]!.toLowerCase()}${item.slice(1)}`).join('; ')]));
  });
});

describe('readEvidence', () => {
  const good = '# x\n\n## Evidence\n\n- Real bytes: a file of 2024\n  and one of 2025\n- Verbatim header: none\n- Document: a page, undated\n\n## More\n\n- text\n';

  it('reads a complete section, even if a value spans two lines and another section follows', () => {
    expect(readEvidence(good, 'x')).toEqual({ bytes: 'a file of 2024 and one of 2025', header: null, document: 'a page, undated' });
  });

  it.each([
    ['without the section', good.replace('## Evidence', '## Proof')],
    ['with the section twice', `${good}\n## Evidence\n`],
    ['without an item', good.replace('- Verbatim header: none\n', '')],
    ['with an additional item', good.replace('- Document', '- Hearsay: 2024\n- Document')],
    ['with items in a different order', good.replace('Real bytes', 'Document').replace('- Document: a page', '- Real bytes: a page')],
    ['with an empty item', good.replace('none', '')],
    ['without a date', good.replace(', undated', '')],
    ['with a paragraph between items', good.replace('- Document', '\nSome words.\n\n- Document')],
  ])('rejects notes %s', (_what, notes) => {
    expect(() => readEvidence(notes, 'x')).toThrow(expect.objectContaining({ code: 'EVIDENCE_MALFORMED', at: 'x' }) as Error);
  });
});
