/**
 * Tests that the synthetic files use the dialect of the real files. Except for the values, the root element and the first member must have the same bytes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import synthetic from '../../sources/ade_cadastre/synthetic.ts';
import { realData } from '../harness/real-data.ts';

const path = realData('cadastre/MOLISE.zip');

/** Returns the root element and first member of a GML file of the first comune, with placeholders instead of values. */
async function skeleton(file: string, province: string, suffix: string): Promise<string> {
  const region = await ZipArchive.open(file);
  const zip = await region.archive(province);
  const comune = await zip.archive(zip.entries.find(({ path: entry }) => entry.endsWith('.zip'))!.path);
  const text = (await comune.buffer(comune.entries.find(({ path: entry }) => entry.endsWith(suffix))!.path)).toString();
  await region.close();
  const first = text.slice(0, text.indexOf('</wfs:member>')) + text.slice(text.lastIndexOf('</wfs:member>'));
  return first
    .replace(/[A-Z]\d{3}[A-Z_]\d{4}[0-9A-Z]{2}(?:\.[0-9A-Z]+)?/g, '<ref>')
    .replace(/>[A-Z]\d{3}</g, '><code><')
    .replace(/(timeStamp|numberMatched|numberReturned)="[^"]*"/g, '$1="<value>"')
    .replace(/<CP:(LABEL|BEGINLIFESPANVERSION|ORIGINALMAPSCALEDENOMINATOR)>[^<]*</g, '<CP:$1><value><')
    .replace(/(?:-?\d+\.\d{8} -?\d+\.\d{8} )+/g, '<positions>')
    .replace(/-?\d+\.\d{6} -?\d+\.\d{6}/g, '<corner>');
}

describe('the synthetic cadastral map', () => {
  it.skipIf(path === null).each(['_ple.gml', '_map.gml'])('uses the same elements and attributes as the real file for %s', async (suffix) => {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-test-'));
    try {
      await synthetic.write(makeRegion({ parcels: 500, seed: 1 }), folder);
      expect(await skeleton(join(folder, 'MOLISE.zip'), 'CB.zip', suffix)).toBe(await skeleton(path!, 'CB.zip', suffix));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
