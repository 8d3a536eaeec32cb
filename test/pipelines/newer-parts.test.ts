/** Tests that a newer file of one comune changes only that comune. Quotations, incomes and postal codes of other comuni must stay unchanged. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';

interface Record {
  readonly comune: string;
  readonly reference: string;
  readonly basic: { readonly cadastral: { readonly postal_code: string | null } };
  readonly valuation: readonly { readonly semester: string }[];
  readonly economics: { readonly tax_year: number; readonly level: string } | null;
  readonly address: unknown;
  readonly meta: { readonly coverage: unknown };
}

describeDatabase('a newer file of one comune', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;

  const run = async (): Promise<void> => expect((await refresh(context, loadOptions([files.folder], [14], { accept: { who: 'a test', why: 'the test adds one comune' } }))).failures).toEqual([]);
  /** Maps the reference of each land parcel to the fields that a newer file may change, and to the coverage of all sections. */
  const records = async (): Promise<Map<string, Record>> => {
    const rows = await context.database.query<{ comune: string; reference: string; json: Omit<Record, 'comune' | 'reference'> }>(
      "select belfiore as comune, reference, api.parcel(fid, $1) as json from core.parcel where kind = 'land' order by reference", [SECTION_NAMES],
    );
    return new Map(rows.map(({ comune, reference, json: { basic, valuation, economics, address, meta } }) => [
      reference, { comune, reference, basic, valuation, economics: economics === null ? null : { ...economics, source: '' }, address, meta: { coverage: meta.coverage } },
    ]));
  };
  const named = async (pattern: RegExp): Promise<string> => join(files.folder, (await readdir(files.folder)).find((name) => pattern.test(name))!);
  /** Returns the first `headers` lines of a file and the lines that `keep` accepts, with `change` applied to the text. */
  const rewritten = async (from: string, headers: number, keep: (line: string) => boolean, change: (text: string) => string): Promise<Buffer> => {
    const lines = (await readFile(from)).toString('latin1').split(/(?<=\n)/);
    return Buffer.from(change(lines.filter((line, index) => index < headers || keep(line)).join('')), 'latin1');
  };

  beforeAll(async () => {
    files = await syntheticFiles(900, 5, { comuni: 3 });
    context = await freshContext(engine);
    await run();
  });
  afterAll(() => files?.remove());

  it('does not change the half-year of quotations of other comuni, even if its ZONE file lists all comuni', async () => {
    const before = await records();
    expect([...before.values()].filter(({ comune, valuation }) => comune === 'Z001' && valuation.length > 0).length).toBeGreaterThan(100);
    const newer = (text: string): string => text.replace('Semestre 2015/1', 'Semestre 2026/1').replace(/elaborazione del \S+/, 'elaborazione del 03-OTT-26');
    await writeFile(join(files.folder, 'QI_1_1_20261_VALORI.csv'), await rewritten(await named(/_20151_VALORI/), 2, (line) => line.includes(';Z002;'), newer));
    await writeFile(join(files.folder, 'QI_2_1_20261_ZONE.csv'), await rewritten(await named(/_20151_ZONE/), 2, () => true, newer));
    await run();
    const after = await records();
    const of = (comune: string, found: ReadonlyMap<string, Record>): Record[] => [...found.values()].filter((record) => record.comune === comune);
    expect(of('Z001', after)).toEqual(of('Z001', before));
    expect(of('Z003', after)).toEqual(of('Z003', before));
    expect(new Set(of('Z002', after).flatMap(({ valuation }) => valuation.map(({ semester }) => semester)))).toEqual(new Set(['2026_1']));
  });

  it('does not change the year of incomes or the edition of postal codes of other comuni', async () => {
    const before = await records();
    // Removing the CAP column turns the table by postal code into a table by comune.
    const lines = (await readFile(await named(/subcomunale_CSV_2023/))).toString('latin1').split('\r\n');
    const cap = lines[0]!.split(';').indexOf('CAP');
    const without = (line: string): string => line.split(';').filter((_cell, index) => index !== cap).join(';');
    const row = without(lines.find((line) => line.includes(';Z001;'))!).replace(/^2023/, '2025').replace(';Z001;', ';Z002;');
    await writeFile(join(files.folder, 'Redditi_e_principali_variabili_IRPEF_su_base_comunale_CSV_2025.csv'), `${without(lines[0]!)}\r\n${row}\r\n`);
    await writeFile(join(files.folder, 'cap_2026.csv'), 'belfiore;cap\r\nZ002;86999\r\n');
    await run();
    const after = await records();
    for (const record of after.values()) if (record.comune !== 'Z002') expect(record).toEqual(before.get(record.reference));
    const second = [...after.values()].filter(({ comune }) => comune === 'Z002');
    expect(new Set(second.map(({ economics }) => economics!.tax_year))).toEqual(new Set([2025]));
    expect(new Set(second.map(({ basic }) => basic.cadastral.postal_code))).toEqual(new Set(['86999']));
  });
});
