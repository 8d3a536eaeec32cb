/** Tests that an explanation equals the published values, and that all its evidence names existing files. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { schemasLike } from '../../pipelines/db/ddl.ts';
import { SECTION_NAMES, tableOfSection } from '../../pipelines/contract/sections.ts';
import { explain } from '../../pipelines/operate/explain.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { readSectionFiles } from '../../pipelines/contract/sql-files.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';
import { sentencesOf } from '../harness/evidence-sentences.ts';

/** Conditions that select rows with much to explain, by section. */
const WHERE: Readonly<Record<string, string>> = {
  risk: 'where flood_level is not null and pga_g is not null',
  economics: 'where avg_residential_price_m2 is not null',
  valuation: 'where exists (select from core.quotation q where q.belfiore = valuation.belfiore and q.zona = valuation.zona and q.half_year = valuation.half_year)',
};

describeDatabase('an explanation', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;

  beforeAll(async () => {
    files = await syntheticFiles(900, 9);
    context = await freshContext(engine);
    expect((await refresh(context, loadOptions([files.folder], [14]))).failures).toEqual([]);
  });
  afterAll(() => files.remove());

  it.each(SECTION_NAMES)('equals the published values of the section %s, and names files and positions', async (section) => {
    const relation = tableOfSection(section);
    const [table] = [...(await context.database.query<{ partition: string }>(
      "select coalesce(t.held_in, t.partition) as partition from ledger.publication_table t join ledger.publication p using (publication_id) where p.state = 'current' and p.unit_code = 14 and t.relation = $1", [relation],
    ))];
    expect(table).toBeDefined();
    const parcels = await context.database.query<{ fid: number }>(`select distinct fid from ${relation} ${WHERE[section] ?? ''} order by fid`);
    expect(parcels.length).toBeGreaterThan(20);
    const { file, text } = readSectionFiles('explain').find((each) => each.section === section)!;
    const listed = sentencesOf(file, text).rule.map((rule) => new RegExp(`^${rule.split(/\{\d\}/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*')}$`));
    for (const { fid } of [parcels[0]!, parcels[Math.floor(parcels.length / 2)]!, parcels.at(-1)!]) {
      const explanation = await explain(context, fid, section);
      expect(explanation.reproduced, `fid ${fid}`).toBe(true);
      const [record] = await context.database.query<{ block: unknown }>('select api.parcel($1, $2) -> $3 as block', [fid, [section], section]);
      const block = record!.block;
      const hasNothing = block === null || JSON.stringify(block) === '[]' || (block as { available?: boolean }).available === false;
      expect(explanation.empty, `fid ${fid}`).toBe(hasNothing && section !== 'basic');
      expect(explanation.evidence.length, `fid ${fid}`).toBeGreaterThan(0);
      for (const evidence of explanation.evidence) {
        // A tax code in a file name is masked, so only the folder is checked.
        expect(existsSync(evidence.file.includes('***') ? dirname(evidence.file) : evidence.file), evidence.file).toBe(true);
        expect(evidence.sha256).toMatch(/^[0-9a-f]{64}$/);
        // The Italian map has a translation for each listed rule.
        expect(listed.some((rule) => rule.test(evidence.rule)), evidence.rule).toBe(true);
        expect(evidence.position).toBeGreaterThanOrEqual(0);
      }
    }
  });

  it('names the table of comuni and the area for the postal code of a parcel in a comune with several postal codes', async () => {
    const [parcel] = await context.database.query<{ fid: number }>("select fid from section.postal_code where cap = '86002' order by fid limit 1");
    const { evidence } = await explain(context, parcel!.fid, 'basic');
    expect(evidence.filter(({ field }) => field === 'cadastral.postal_code').map(({ value, source, vintage }) => [value, source, vintage])).toEqual([['86002', 'postal_codes', '2025'], ['86002', 'postal_codes', '2025']]);
  });

  it('leaves no schema in the database', async () => {
    expect(await context.database.session((session) => schemasLike(session, 'explain_'))).toEqual([]);
  });
});
