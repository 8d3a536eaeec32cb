/** Tests the recognition and the reader of cadastral files, and the parsing of national cadastral references and province codes. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import type { Reject } from '../../pipelines/contract/source.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { regionOfSigla } from './provinces.ts';
import { parseReference } from './reference.ts';
import source from './source.ts';
import { collect, inputFile } from '../../test/harness/collect.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const fixture = (name: string): string => join(FOLDER, 'fixture', name);

const folder = temporaryFolder();

describe('files of the cadastre', () => {
  it.each(['regione', 'VALLE-AOSTA', 'FRIULI-VENEZIA-GIULIA'])('are recognised by content under the name %s.zip, and get their region from this name or from the province codes inside', async (name) => {
    const path = join(folder, `${name}.zip`);
    await writeFile(path, readFileSync(fixture('MOLISE.zip')));
    const { recognition } = await trial(source, path);
    expect(recognition).toEqual({ role: 'regione', vintage: '2026-07-01', region: { regione: 14, 'VALLE-AOSTA': 2, 'FRIULI-VENEZIA-GIULIA': 6 }[name], complete: name !== 'regione' });
  });

  it('are dated by the entries of the outer zip, otherwise by the entries of the first inner zip, otherwise by the first document', async () => {
    const document = readFileSync(fixture('parcels.gml'), 'utf8').replace(/(\stimeStamp=")[^"]*/, '$12026-07-02T10:00:00Z');
    const pack = async (name: string, entry: readonly [string, Buffer], modified?: string): Promise<Buffer> => {
      await writeZip(join(folder, name), [[...entry, modified === undefined ? {} : { modified }]]);
      return readFileSync(join(folder, name));
    };
    for (const [outer, inner, vintage] of [['2026-07-04', '2026-07-03', '2026-07-04'], [undefined, '2026-07-03', '2026-07-03'], [undefined, undefined, '2026-07-02']] as const) {
      const comune = await pack('Z001_FINTO.zip', ['Z001_FINTO_ple.gml', Buffer.from(document)]);
      const provincia = await pack('CB.zip', ['Z001_FINTO.zip', comune], inner);
      await pack('parts.zip', ['CB.zip', provincia], outer);
      expect((await trial(source, join(folder, 'parts.zip'))).recognition).toEqual({ role: 'regione', vintage, region: 14, complete: false });
    }
  });

  it('give the same rows if the zips of provinces are stored without compression', async () => {
    const path = join(folder, 'stored.zip');
    await writeZip(path, [['CB.zip', readFileSync(fixture('PS.zip')), { level: 0 }]]);
    const stored = await collect(source, path, { role: 'regione' });
    const alone = await collect(source, fixture('PS.zip'), { role: 'provincia' });
    expect(stored.rows).toEqual(alone.rows);
    expect(stored.members.map(({ path: inside }) => inside)).toEqual(alone.members.map(({ path: inside }) => `CB.zip/${inside}`));
  });
});

describe('the reader', () => {
  it('does not open a member if a member with the same path, checksum and size is already loaded', async () => {
    const asked: unknown[] = [];
    const opened: string[] = [];
    await source.read(await inputFile(fixture('Z001_BORGO D`ESEMPIO.zip'), { role: 'comune' }), {
      reuse: (facts) => {
        asked.push(facts);
        return Promise.resolve(true);
      },
      member: (facts) => {
        opened.push(facts.path);
        return Promise.reject(new Error('expected that no member is opened'));
      },
      progress: () => undefined,
    });
    expect(opened).toEqual([]);
    expect(asked).toEqual([
      { path: 'Z001_BORGO D`ESEMPIO_map.gml', crc32: expect.any(Number), size: expect.any(Number) },
      { path: 'Z001_BORGO D`ESEMPIO_ple.gml', crc32: expect.any(Number), size: expect.any(Number) },
    ]);
  });

  it('reports progress in bytes of the outermost file, never decreasing and at most the file\'s size', async () => {
    const reported: number[] = [];
    const file = await inputFile(fixture('MOLISE.zip'), { role: 'regione' });
    await source.read(file, { reuse: () => Promise.resolve(true), member: () => Promise.reject(new Error('unused')), progress: (bytes) => reported.push(bytes) });
    expect(reported).toEqual([...reported].sort((a, b) => a - b));
    expect(reported.at(-1)).toBeLessThanOrEqual(file.size);
    expect(reported.at(-1)).toBeGreaterThan(file.size * 0.3);
  });

  it('stores an envelope with each member, so that a rejected record can be wrapped into a readable document', async () => {
    const text = readFileSync(fixture('names-that-contradict.gml'), 'utf8');
    let envelope = { before: '', after: '' };
    const raws: string[] = [];
    await source.read(await inputFile(fixture('names-that-contradict.gml'), { role: 'gml' }), {
      reuse: () => Promise.resolve(false),
      progress: () => undefined,
      member(facts) {
        envelope = facts.envelope!;
        return Promise.resolve({
          memberId: 1,
          writer: (table: string) => new RowWriter(source.tables[table]!, () => undefined),
          row: () => undefined,
          reject: ({ raw }: Reject) => void raws.push(raw.toString()),
          duplicate: () => undefined, added: () => undefined,
          drain: () => undefined,
          close: () => Promise.resolve(),
        });
      },
    });
    expect(raws).toHaveLength(5);
    const path = join(folder, 'retry.gml');
    // Corrects the label, as a user would do before loading the record again.
    await writeFile(path, envelope.before + raws[0]!.replace('<CP:LABEL>9<', '<CP:LABEL>1<') + envelope.after);
    const { collected } = await trial(source, path);
    expect(collected!.members[0]!.rejects).toEqual([]);
    expect(collected!.rows['raw_parcel']!.map(({ reference }) => reference)).toEqual(['Z001_000100.1']);
    expect(text).toContain(raws[0]);
  });
});

describe('the national cadastral reference', () => {
  it.each([
    ['Z001_001300.594', { belfiore: 'Z001', section: null, sheet: '0013', attachment: '0', development: '0', label: '594' }],
    ['Z001_0013A0', { belfiore: 'Z001', section: null, sheet: '0013', attachment: 'A', development: '0', label: null }],
    ['Z002A048500.STRADA001', { belfiore: 'Z002', section: 'A', sheet: '0485', attachment: '0', development: '0', label: 'STRADA001' }],
    ['Z002B012700', { belfiore: 'Z002', section: 'B', sheet: '0127', attachment: '0', development: '0', label: null }],
    ['Z001_1234QU', { belfiore: 'Z001', section: null, sheet: '1234', attachment: 'Q', development: 'U', label: null }],
    ['Z001_0025D1.12/A.3', { belfiore: 'Z001', section: null, sheet: '0025', attachment: 'D', development: '1', label: '12/A.3' }],
  ])('is parsed into comune, section, sheet, attachment, development and label: %s', (text, parts) => {
    expect(parseReference(text)).toEqual(parts);
  });

  it.each(['', 'Z001', 'z001_001300.1', 'Z001-001300.1', 'Z001_01300.1', 'Z001_001300.', 'Z001_001300. 1', 'Z001_001300.1 ', 'Z001_0013001', 'Z001_001300\n.1', 'Z0011001300.1', 'Z001_0013a0.1', 'Z001_001300.<b>1</b>', 'Z001_001300.1<', 'Z001_001300.1"', 'Z001_001300.1&2'])('is not recognised in %j', (text) => {
    expect(parseReference(text)).toBeNull();
  });
});

describe('regionOfSigla', () => {
  it.each([['PS', 11], ['PU', 11], ['FO', 8], ['FC', 8], ['BT', 16], ['MB', 3], ['SU', 20], ['cb', 14], ['AO', 2], ['NA', 15]])('maps %s to region %i', (sigla, region) => {
    expect(regionOfSigla(sigla)).toBe(region);
  });

  it('returns undefined for a sigla that never existed', () => {
    expect(regionOfSigla('XX')).toBeUndefined();
  });
});
