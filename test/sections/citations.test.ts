/** Tests that every section of every parcel cites exactly the releases that `explain` names for its values. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTION_NAMES, SECTIONS } from '../../pipelines/contract/sections.ts';
import { explainedSources } from '../../pipelines/operate/explain.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { buildingSource } from '../../pipelines/synthetic/buildings.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { loadOptions, syntheticFiles } from '../harness/region.ts';

const sources = await loadSources();
const titles = new Map(sources.map(({ id, manifest }) => [manifest.title, id]));

interface Block {
  readonly source?: string;
}

interface Parcel {
  readonly fid: number;
  readonly kind: string;
  readonly meta: { readonly licenses: readonly { readonly section: string; readonly source: string; readonly reference_period: string | null }[] };
}

type Cited = readonly string[];

function isEmpty(block: Block | readonly unknown[] | null): boolean {
  return block === null || (Array.isArray(block) && block.length === 0);
}

/** Returns the sources with their periods from the licences of a section. */
function licensed({ meta }: Parcel, section: string): Cited {
  return meta.licenses.filter((license) => license.section === section).map(({ source, reference_period: period }) => `${titles.get(source) ?? source} ${period ?? ''}`.trim()).sort();
}

/** Returns the sources and periods from the text `source` of the block. */
function citedBy({ source }: Block): Cited {
  return (source ?? '').split('; ').map((each) => {
    const [, title = each, period = ''] = /^(.*?)(?: \(([^()]*)\))?$/.exec(each) ?? [];
    const id = titles.get(title) ?? titles.get(each);
    return id === undefined ? each : `${id} ${titles.has(each) ? '' : period}`.trim();
  }).sort();
}

const BUILDINGS: Readonly<Record<string, string>> = { topographic: 'igm_dbsn', register: 'trento_cadastre', aggregates: 'dpc_buildings' };

/** The parts of the truth that determine the source of a value. */
interface Truth {
  readonly terrain?: { readonly elevation_of: string } | null;
  readonly economics?: { readonly tax_year: number } | null;
}

describeEngines('the citations of a region', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let parcels: readonly (Parcel & Readonly<Record<string, Block | readonly unknown[] | null>>)[];

  beforeAll(async () => {
    files = await syntheticFiles(90, testEnvironment().seed, { comuni: 3, dense: true });
    context = await freshContext(engine);
    expect((await refresh(context, loadOptions([files.folder], [14]))).failures).toEqual([]);
    parcels = (await context.database.query<{ kind: string; record: (typeof parcels)[number] }>('select kind, api.parcel(fid, $1) as record from core.parcel order by fid', [SECTION_NAMES])).map(({ kind, record }) => ({ ...record, kind }));
    expect(parcels.length).toBeGreaterThan(50);
  });
  afterAll(() => files?.remove());

  it.each(SECTION_NAMES)('are the sources that `explain` reports, in the section %s', async (section) => {
    const different: string[] = [];
    const shows = (parcel: (typeof parcels)[number]): boolean => !isEmpty(parcel[section] as Block | readonly unknown[] | null);
    const filled = parcels.filter(shows);
    expect(filled.length, `parcels with the section, MAPPALE_TEST_SEED=${testEnvironment().seed}`).toBeGreaterThan(0);
    // The embedded engine explains every sixth parcel, unless `MAPPALE_TEST_ENGINES` names this engine. The sample begins with a parcel that has the section.
    const step = engine.name === 'pglite' && !testEnvironment().enginesNamed ? 6 : 1;
    const chosen = [...filled, ...parcels.filter((parcel) => !shows(parcel))].filter((_, index) => index % step === 0);
    const kinds: readonly string[] = SECTIONS.find(({ name }) => name === section)!.kinds;
    const explained = await explainedSources(context, chosen.filter(({ kind }) => kinds.includes(kind)).map(({ fid }) => fid), section);
    for (const parcel of chosen) {
      const block = parcel[section] as Block | readonly unknown[] | null;
      const [license, evidence] = [licensed(parcel, section), (explained.get(parcel.fid) ?? []).map(({ source, reference_period: period }) => `${source} ${period ?? ''}`.trim())];
      if (isEmpty(block) && license.length > 0) different.push(`${parcel.fid}: nothing shown, cites ${license.join(', ')}`);
      if (String(license) !== String(evidence)) different.push(`${parcel.fid}: cites ${license.join(', ')}; explain names ${evidence.join(', ')}`);
      if (block !== null && !Array.isArray(block) && 'source' in block && String(citedBy(block)) !== String(license)) different.push(`${parcel.fid}: source ${block.source ?? ''}; cites ${license.join(', ')}`);
    }
    expect(different.slice(0, 5), `${different.length} differ, ${filled.length} of ${parcels.length} parcels have the section, MAPPALE_TEST_SEED=${testEnvironment().seed}`).toEqual([]);
  }, 600_000);

  it('name the elevation model, the source of buildings and the tax year that the generator used', async () => {
    const truths = (await Promise.all(['copernicus_dem', 'tinitaly_dem', 'mef_income'].map((id) => loadSynthetic(id)))).flatMap(({ truth }) => (truth === undefined ? [] : [truth(files.region)]));
    const byReference = new Map(parcels.map((parcel) => [(parcel['basic'] as { cadastral_reference?: string }).cadastral_reference, parcel]));
    const seen = { terrain: new Set<string>(), buildings: new Set<string>(), economics: new Set<string>() };
    for (const synthetic of files.region.parcels()) {
      const expected = Object.assign({}, ...truths.map((truth) => truth(synthetic))) as Truth;
      const parcel = byReference.get(synthetic.reference);
      if (parcel === undefined) continue;
      if (parcel['terrain'] !== null && expected.terrain) {
        const model = expected.terrain.elevation_of === 'ground' ? 'tinitaly_dem 1.1' : 'copernicus_dem 2021';
        expect(licensed(parcel, 'terrain')).toEqual([model]);
        expect(parcel['terrain']).toMatchObject({ elevation_of: expected.terrain.elevation_of });
        seen.terrain.add(model);
      }
      if (parcel['buildings'] !== null) {
        const cited = licensed(parcel, 'buildings').map((each) => each.split(' ')[0]!);
        expect(cited).toEqual([BUILDINGS[buildingSource(files.region, synthetic.comune) ?? '']]);
        seen.buildings.add(cited[0]!);
      }
      if (parcel['economics'] !== null && expected.economics) {
        expect(licensed(parcel, 'economics')).toContain(`mef_income ${expected.economics.tax_year}`);
        seen.economics.add(String(expected.economics.tax_year));
      }
    }
    for (const [section, each] of Object.entries(seen)) expect(each.size, section).toBeGreaterThan(0);
    expect(seen.buildings.size + seen.economics.size, 'sections with several sources').toBeGreaterThan(2);
  });
});
