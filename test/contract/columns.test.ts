/** A publisher renames, removes or adds a column: the file is still known for what it is, and refused with the difference. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeWorld } from '../../pipelines/kit/make-world.ts';
import { ZipArchive } from '../../pipelines/kit/zip.ts';
import { ZipWriter } from '../../pipelines/kit/zip-writer.ts';
import { loadSources, loadSynthetic } from '../../pipelines/registry.ts';
import { locate } from '../../pipelines/steps/locate.ts';
import { validate } from '../../pipelines/steps/validate.ts';

const sources = await loadSources();
const world = makeWorld({ parcels: 600, seed: 11 });
const root = mkdtempSync(join(tmpdir(), 'mappale-columns-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Table {
  /** File in the folder, entry in it when it is a zip, and the header's bytes. */
  readonly path: string;
  readonly entry: string | null;
  readonly content: Buffer;
  readonly delimiter: string;
  readonly start: number;
  readonly end: number;
}

/** The header: the line with the most separators among the first three (titles come before it, quoted line feeds inside). */
function headerOf(content: Buffer): Pick<Table, 'delimiter' | 'start' | 'end'> | null {
  const text = content.subarray(0, 20_000).toString('latin1');
  if (/[\u0000-\u0008]/.test(text.slice(0, 500))) return null;
  for (const delimiter of [';', ',']) {
    let start = 0;
    for (let line = 0; line < 3; line += 1) {
      let end = start;
      for (let quoted = false; end < text.length && (quoted || text[end] !== '\n'); end += 1) if (text[end] === '"') quoted = !quoted;
      const header = text.slice(start, end).replace(/\r$/, '');
      if (header.split(delimiter).length >= 4 && /[A-Za-z]/.test(header) && !/^[{[<]/.test(header)) return { delimiter, start, end: start + header.length };
      start = end + 1;
    }
  }
  return null;
}

async function tablesOf(folder: string): Promise<Table[]> {
  const tables: Table[] = [];
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name);
    if (/\.(csv|txt)$/i.test(name)) {
      const content = readFileSync(path);
      const header = headerOf(content);
      if (header !== null) tables.push({ path, entry: null, content, ...header });
    } else if (name.endsWith('.zip')) {
      const zip = await ZipArchive.open(path);
      for (const entry of zip.entries.filter(({ path: inner }) => /\.(csv|txt)$/i.test(inner))) {
        const content = await zip.buffer(entry.path);
        const header = headerOf(content);
        if (header !== null) tables.push({ path, entry: entry.path, content, ...header });
      }
      await zip.close();
    }
  }
  return tables;
}

async function rewritten(table: Table, header: string, folder: string): Promise<string> {
  const content = Buffer.concat([table.content.subarray(0, table.start), Buffer.from(header, 'latin1'), table.content.subarray(table.end)]);
  const path = join(folder, table.path.split('/').at(-1)!);
  if (table.entry === null) {
    writeFileSync(path, content);
    return path;
  }
  const zip = await ZipArchive.open(table.path);
  const writer = await ZipWriter.create(path);
  for (const entry of zip.entries) await writer.add(entry.path, entry.path === table.entry ? content : await zip.buffer(entry.path), { modified: entry.modified });
  await writer.close();
  await zip.close();
  return path;
}

/** A long table of dates says the same of each: the first columns stand for all. */
const COLUMNS = 30;

describe.each(sources.map((source) => [source.id, source] as const))('source %s', (id, source) => {
  it('knows a table whose header changed, and says what changed', async () => {
    const folder = join(root, id);
    mkdirSync(folder);
    await (await loadSynthetic(id)).write(world, folder);
    const survey = await locate([folder], [source], { get: () => undefined, set() {} });
    const mine = new Set(survey.releases.flatMap(({ files }) => files.map((file) => file.path)));
    const seen = new Set<string>();
    const offences: string[] = [];
    for (const table of (await tablesOf(folder)).filter(({ path }) => mine.has(path))) {
      const cells = table.content.subarray(table.start, table.end).toString('latin1').split(table.delimiter);
      if (seen.has(cells.slice(0, COLUMNS).join())) continue;
      seen.add(cells.slice(0, COLUMNS).join());
      const variants: [string, string[]][] = [['added', [...cells.slice(0, 2), 'colonna_nuova', ...cells.slice(2)]]];
      cells.slice(0, COLUMNS).forEach((cell, index) => {
        if (cell.trim() === '' || /^"?\d{8}"?$/.test(cell)) return;
        variants.push([`renamed ${cell}`, cells.map((each, at) => (at === index ? 'colonna_nuova' : each))]);
        variants.push([`removed ${cell}`, cells.filter((_, at) => at !== index)]);
      });
      for (const [what, header] of variants) {
        const place = mkdtempSync(join(root, 'variant-'));
        const path = await rewritten(table, header.join(table.delimiter), place);
        const [verdict] = await validate([path], sources, 200, () => undefined);
        const told = verdict!.findings.some(({ code, detail, hint }) => code !== 'FILE_UNKNOWN' && detail !== undefined && hint !== undefined);
        if (verdict!.ok || !told) offences.push(`${table.path.split('/').at(-1)} ${what}: ${verdict!.ok ? 'accepted' : JSON.stringify(verdict!.findings.map(({ code, detail, hint }) => [code, detail, hint]))}`);
        rmSync(place, { recursive: true });
      }
    }
    expect(offences).toEqual([]);
  });
});
