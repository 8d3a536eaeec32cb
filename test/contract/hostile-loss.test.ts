/** Tests files that could silently lose a part of their content. Each file is rejected with the reason. */
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { exitCodeOf, refresh } from '../../pipelines/run/refresh.ts';
import { validate } from '../../pipelines/operate/validate.ts';
import { describeEngines } from '../harness/database.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, loadOptions } from '../harness/region.ts';

const sources = await loadSources();
const root = mkdtempSync(join(tmpdir(), 'mappale-loss-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const fixture = (path: string): string => join(ROOT, 'sources', path.replace('/', '/fixture/'));
const SOPPRESSI = 'comuni-soppressi.csv';
const HEADER = 'Anno;Sigla Automobilistica;Codice Unità territoriale sovracomunale (Uts);Codice Comune;Denominazione Comune;Comune soppresso per scorporo;Data evento;Codice del Comune associato alla variazione;Denominazione Comune associato alla variazione;Codice Unità territoriale sovracomunale associato alla variazione;Sigla Automobilistica associata alla variazione';
const table = (rows: number): string => `${HEADER}\n${Array.from({ length: rows }, (_, index) => `2024;CB;070;${String(70_000 + index).padStart(6, '0')};Finta;;22/01/2024;070902;Altrove;070;CB\n`).join('')}`;

let folders = 0;
function folder(): string {
  folders += 1;
  const path = join(root, String(folders));
  mkdirSync(path);
  return path;
}

/** Returns the sources, with `istat_soppressi` changed so that `act` runs after a file was found and hashed, and before the file is read. */
function meanwhile(act: (path: string) => void): RegisteredSource[] {
  return sources.map((source) => (source.id !== 'istat_soppressi' ? source : {
    ...source,
    read: async (file, sink) => {
      act(file.path);
      await source.read(file, sink);
    },
  }));
}

/** Truncates the file at the last end of a line in its first half, so that the file looks complete to every reader. */
function cutAtLine(path: string): void {
  truncateSync(path, readFileSync(path).lastIndexOf('\n', statSync(path).size / 2) + 1);
}

describe('a file that changes between hashing and reading', () => {
  it.each<[string, (path: string) => void]>([
    ['cut at the end of a line', cutAtLine],
    ['with additional lines', (path) => appendFileSync(path, table(1).slice(HEADER.length + 1))],
    ['of the same size and date', (path) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('Finta', 'Vinta'));
      utimesSync(path, atime, mtime);
    }],
    ['that is gone', (path) => rmSync(path)],
  ])('is rejected with FILE_CHANGED_WHILE_READ: %s', async (_what, act) => {
    const path = join(folder(), SOPPRESSI);
    writeFileSync(path, table(50));
    const [verdict] = await validate([path], meanwhile(act), null, () => undefined);
    expect(verdict).toMatchObject({ ok: false, findings: [{ level: 'error', code: 'FILE_CHANGED_WHILE_READ', at: path, detail: expect.stringMatching(/expected \d+ bytes.*found/), hint: expect.any(String) }, ...(verdict?.findings.slice(1) ?? [])] });
  });
});

describeEngines('a load of a file that changes', (engine) => {
  it('exits with 3 and loads nothing if the file is cut while it is read, and the next load reads the complete file', async () => {
    const data = folder();
    const path = join(data, SOPPRESSI);
    writeFileSync(path, table(500));
    const { atime, mtime } = statSync(path);
    const database = await engine.openDatabase(await migratedDatabase(engine));
    const cut = await refresh(await contextOn(database, meanwhile(cutAtLine)), loadOptions([data], null));
    expect([exitCodeOf(cut), cut.failures[0]?.code, cut.loaded]).toEqual([3, 'FILE_CHANGED_WHILE_READ', []]);
    writeFileSync(path, table(500));
    utimesSync(path, atime, mtime);
    const whole = await refresh(await contextOn(database, sources), loadOptions([data], null));
    expect(whole.loaded.map(({ source, rows }) => [source, rows])).toEqual([['istat_soppressi', 500]]);
  });

  it('is repeated by the next run if only the bytes of the file changed, and not its size and date', async () => {
    const data = folder();
    const path = join(data, SOPPRESSI);
    writeFileSync(path, table(30));
    const { atime, mtime } = statSync(path);
    const context = await contextOn(await engine.openDatabase(await migratedDatabase(engine)), sources);
    await refresh(context, loadOptions([data], null));
    writeFileSync(path, table(30).replaceAll('Finta', 'Vinta'));
    utimesSync(path, atime, mtime);
    expect((await refresh(context, loadOptions([data], null))).loaded.map(({ source }) => source)).toEqual(['istat_soppressi']);
  });
}, ['postgres']);

// --- zips ----------------------------------------------------------------------------------------------------------

/** Changes bytes of every local and central header of the entries with this name. */
function patchHeaders(path: string, name: string, patch: (bytes: Buffer, flagsAt: number, nameAt: number) => unknown): void {
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf('PK', 0, 'latin1'); at !== -1; at = bytes.indexOf('PK', at + 2, 'latin1')) {
    const [flags, length, start] = bytes.readUInt16LE(at + 2) === 0x0403 ? [6, 26, 30] : bytes.readUInt16LE(at + 2) === 0x0201 ? [8, 28, 46] : [0, 0, 0];
    if (start !== 0 && bytes.toString('latin1', at + start, at + start + bytes.readUInt16LE(at + length)) === name) patch(bytes, at + flags, at + start);
  }
  writeFileSync(path, bytes);
}

describe('a zip', () => {
  const PART = table(20);
  it.each<[string, string, (path: string) => Promise<void>]>([
    ['two members with the same name', 'ZIP_MEMBER_REPEATED', (path) => writeZip(path, [[SOPPRESSI, PART], [SOPPRESSI, table(3)]])],
    ['two names, in UTF-8 and code page 437, that are equal after decoding', 'ZIP_MEMBER_REPEATED', async (path) => {
      await writeZip(path, [['é.csv', PART], ['X.csv', table(3)]]);
      patchHeaders(path, 'X.csv', (bytes, flagsAt, nameAt) => {
        bytes.writeUInt16LE(bytes.readUInt16LE(flagsAt) & ~0x0800, flagsAt);
        bytes[nameAt] = 0x82;
      });
    }],
    ['two names that are equal after Unicode normalisation', 'ZIP_MEMBER_REPEATED', (path) => writeZip(path, [['\u00e9.csv', PART], ['e\u0301.csv', table(3)]])],
    ['more members in the directory than the stated number', 'ZIP_UNREADABLE', async (path) => {
      await writeZip(path, [['a.csv', PART], ['b.csv', table(3)]]);
      const bytes = readFileSync(path);
      bytes.writeUInt16LE(1, bytes.length - 14);
      bytes.writeUInt16LE(1, bytes.length - 12);
      writeFileSync(path, bytes);
    }],
    ...([['a member whose path leads out of the folder', '../../etc/cron.d/x'], ['a member with an absolute path', '/etc/cron.d/x']] as const).map(
      ([what, led]): [string, string, (path: string) => Promise<void>] => [what, 'ZIP_PATH', async (path) => {
        const harmless = 'x'.repeat(led.length);
        await writeZip(path, [[SOPPRESSI, PART], [harmless, 'x']]);
        patchHeaders(path, harmless, (bytes, _flagsAt, nameAt) => bytes.write(led, nameAt));
      }],
    ),
  ])('with %s is rejected: %s', async (_what, code, write) => {
    const path = join(folder(), 'comuni-soppressi.zip');
    await write(path);
    await expect(ZipArchive.open(path)).rejects.toMatchObject({ code, at: expect.stringContaining('comuni-soppressi.zip'), detail: expect.any(String), hint: expect.any(String) });
    expect(await validate([path], sources, null, () => undefined)).toMatchObject([{ ok: false, findings: [{ code }] }]);
  });
});

// --- workbooks -----------------------------------------------------------------------------------------------------

const BOOK = '<workbook xmlns="m" xmlns:r="r"><sheets><sheet name="zone" sheetId="1" r:id="r1"/></sheets></workbook>';
const RELATIONS = '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>';
const NAMES = ['REGIONE', 'PROV_CITTA_METROPOLITANA', 'SIGLA_PROV', 'COMUNE', 'COD_ISTAT_COMUNE', 'ZONA_SISMICA'];
const VALUES = ['MOLISE', 'Isernia', 'IS', 'Finto', '094901', '2'];
const cell = (reference: string, value: string): string => `<c r="${reference}" t="inlineStr"><is><t>${value}</t></is></c>`;
const row = (number: number, values: readonly string[]): string => `<row r="${number}">${values.map((value, index) => cell(`${'ABCDEFGH'[index]}${number}`, value)).join('')}</row>`;
const SHEET = `<worksheet xmlns="m"><sheetData>${row(1, NAMES)}${row(2, VALUES)}${row(3, VALUES)}</sheetData></worksheet>`;

describe('a workbook', () => {
  const workbook = async (sheet: string, book: string = BOOK): Promise<string> => {
    const path = join(folder(), 'classificazione_sismica_2024.xlsx');
    await writeZip(path, [['xl/workbook.xml', book], ['xl/_rels/workbook.xml.rels', RELATIONS], ['xl/worksheets/sheet1.xml', sheet]]);
    return path;
  };

  it('is read if the workbook has no errors', async () => {
    expect(await validate([await workbook(SHEET)], sources, null, () => undefined)).toMatchObject([{ source: 'dpc_seismic', rows: 2, rejects: 0 }]);
  });

  it.each<[string, string, string]>([
    ['a cell without a column', 'r="D3"', 'r="3"'],
    ['a cell in lower case', 'r="D3"', 'r="d3"'],
    ['an absolute reference', 'r="D3"', 'r="$D$3"'],
    ['a cell of a different row', 'r="D3"', 'r="D2"'],
    ['a repeated cell', 'r="D3"', 'r="C3"'],
    ['a column beyond the limit of sheets', 'r="D3"', 'r="ZZZZZZ3"'],
    ['an empty reference', 'r="D3"', 'r=""'],
    ['a repeated row number', '<row r="3">', '<row r="2">'],
    ['a row number that is not a number', '<row r="3">', '<row r="drei">'],
    ['a row beyond the limit of sheets', '<row r="3">', '<row r="99999999">'],
    ['a formula without its result', cell('D3', VALUES[3]!), '<c r="D3"><f>D2</f></c>'],
    ['a shared text without its index', cell('D3', VALUES[3]!), '<c r="D3" t="s"><v></v></c>'],
  ])('with %s is rejected, with the position', async (_what, from, to) => {
    const broken = SHEET.replace(from, to);
    expect(broken).not.toBe(SHEET);
    const [verdict] = await validate([await workbook(broken)], sources, null, () => undefined);
    expect(verdict).toMatchObject({ ok: false, findings: [{ code: 'XLSX_UNREADABLE', at: expect.stringContaining('sheet1.xml'), detail: expect.stringMatching(/row|text/) }] });
  });

  it('is rejected if the workbook names a missing sheet', async () => {
    const path = await workbook(SHEET, BOOK.replace('</sheets>', '<sheet name="altri" sheetId="2" r:id="r2"/></sheets>'));
    expect(await validate([path], sources, null, () => undefined)).toMatchObject([{ ok: false, findings: [{ code: 'XLSX_UNREADABLE', detail: expect.stringContaining('altri') }] }]);
  });
});

// --- documents -----------------------------------------------------------------------------------------------------

describe('a document of the cadastre that is rejected as a whole', () => {
  it.each([
    ['malformed before its root element', 'prologue-malformed-inside.zip'],
    ['cut inside a member', 'truncated-document-inside.zip'],
    ['cut after a member', 'truncated-after-member-inside.zip'],
  ])('causes an error, and is not counted as an allowed reject: %s', async (_what, name) => {
    const path = join(folder(), 'Z001_BORGO.zip');
    copyFileSync(fixture(`ade_cadastre/${name}`), path);
    const [verdict] = await validate([path], sources, null, () => undefined);
    expect(verdict).toMatchObject({ ok: false, findings: [{ level: 'error', code: 'GML_TRUNCATED', at: expect.stringContaining('Z001_BORGO.zip!Z001_BORGO_ple.gml'), hint: expect.stringContaining('The document was already broken') }] });
    expect(verdict?.findings).toHaveLength(1);
  });
});
