/** Section risk: seismic, flood and landslide hazard of a parcel. */
import { z } from 'zod';
import { presence, quantity, truth } from '../../../pipelines/contract/gate.ts';
import { nullable, share, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const LEVEL = presence({
  keeps: { share: 0.5, why: 'only a tenth of the land is in hazard areas, so the loss of all areas changes the share by less than 0.2' },
  gains: { share: 0.5, why: 'a new survey adds areas along rivers and slopes; one polygon over a complete province is an error' },
});
const SHARE = quantity({ within: [0, 1], moves: { step: 0.2, why: 'most parcels with a level are completely in an area, so a few other parcels can move the median by more than 25 %' } });

const coverage = z.enum(['mapped', 'not_mapped']).describe('mapped: the source covers this place, and a null level means none here; not_mapped: the source does not cover this place');

const floodCoverage = z.enum(['mapped', 'partial', 'not_mapped'])
  .describe('mapped: all three scenarios cover the comune; partial: not all three scenarios cover the comune, but P1 or P2 does or an area is on the parcel, so the level is a lower bound; not_mapped: otherwise');

const landslideCoverage = z.enum(['mapped', 'partial', 'not_mapped'])
  .describe('mapped: a map covers the comune, and a null level means none here; partial: the level is from an export that may be incomplete, and is a lower bound; not_mapped: no source covers this place, or all areas here have an undetermined class');

const risk = z.strictObject({
  seismic_zone: nullable(whole.min(1).max(4), 'Most severe zone of the comune, 1–4; null: not classified'),
  seismic_zone_label: nullable(z.string(), 'As published'),
  seismic_zone_exact: nullable(z.boolean(), 'False: the comune or its former comuni have several zones; null: not classified'),
  pga: nullable(z.number(), 'Peak ground acceleration in g, exceeded with a probability of 10 % in 50 years; null: no node within 5 km'),
  flood_level: nullable(z.enum(['P1', 'P2', 'P3', 'HPH']), 'Most severe class that overlaps the parcel; HPH: an area without a class; null: see coverage'),
  flood_share: nullable(share, 'Share of the parcel in areas of this class; overlaps count once; null: no level'),
  landslide_level: nullable(z.enum(['P4', 'P3', 'P2', 'P1', 'AA']), 'Most severe class that overlaps the parcel; null: see coverage'),
  landslide_share: nullable(share, 'Share of the parcel in areas of this class; overlaps count once; null: no level'),
  landslide_attention: nullable(z.boolean(), 'True: an area of attention (AA) overlaps the parcel, whatever the level; null: no such area overlaps, and coverage.landslide is not mapped'),
  coverage: z.strictObject({ pga: coverage, flood: floodCoverage, landslide: landslideCoverage }).describe('Coverage of this place by the sources'),
  source,
}).meta({ id: 'Risk', description: 'Natural hazards' });

export default defineSection({
  name: 'risk',
  position: 20,
  title: 'Risk',
  block: nullable(risk, 'Null: no data'),
  kinds: ['land', 'road', 'water'],
  coverage: 'block',
  tables: {
    'section.risk': {
      description: 'Seismic, flood and landslide hazard of each parcel, including roads and water',
      key: ['fid'],
      columns: {
        fid: FID,
        seismic_zone: {
          type: 'int2',
          description: 'Seismic zone of the comune, 1 (most severe) to 4; the most severe digit of the label',
          null: 'the comune is not in the loaded classification', gate: quantity({ within: [1, 4] }),
        },
        seismic_zone_label: { type: 'text', description: 'Seismic zone as published, with subzones, such as 2B or 2A-3A-3B', null: 'as seismic_zone', gate: presence() },
        pga_g: {
          type: 'float8',
          description: 'Peak ground acceleration on rock at the representative point, exceeded with a probability of 10 % in 50 years, 4 decimals',
          unit: 'g', null: 'the point is more than 5 km from every node of the model', gate: quantity({ within: [0, 1] }),
        },
        flood_level: {
          type: 'text',
          description: 'Most severe flood hazard class that overlaps the parcel: P3 high, P2 medium, P1 low, HPH an area without a class',
          null: 'no known hazard, see flood_mapped', gate: LEVEL,
        },
        landslide_level: {
          type: 'text',
          description: 'Most severe landslide hazard class that overlaps the parcel: P4, P3, P2, P1, AA',
          null: 'no known hazard, see landslide_mapped', gate: LEVEL,
        },
        pga_mapped: { type: 'bool', description: 'False: the model does not cover the place', gate: truth },
        flood_mapped: { type: 'bool', description: 'True: all three scenarios were mapped in the comune, and a null flood_level means no flood hazard', gate: truth },
        landslide_mapped: {
          type: 'bool',
          description: 'True: a null landslide_level means no landslide hazard; false: no source covers the place, all areas here have an undetermined class, or the level is from an export that may be incomplete',
          gate: truth,
        },
        seismic_zone_exact: {
          type: 'bool',
          description: 'False: the comune or its former comuni have several zones, so the zone of this place may be less severe',
          null: 'as seismic_zone', gate: truth,
        },
        flood_partial: {
          type: 'bool',
          description: 'True: flood_level is a lower bound, because not all three scenarios were mapped. If flood_partial and flood_mapped are false, neither P1 nor P2 was mapped, and no known area is on the parcel',
          gate: 'decreases when more scenarios are mapped; the gate compares each scenario in core.coverage',
        },
        flood_share: { type: 'float8', description: 'Share of the parcel in areas of the class flood_level, 0–1, 6 decimals; overlaps count once', null: 'no level', gate: SHARE },
        landslide_share: {
          type: 'float8',
          description: 'Share of the parcel in areas of the class landslide_level, 0–1, 6 decimals; overlaps count once',
          null: 'no level', gate: SHARE,
        },
        landslide_attention: {
          type: 'bool',
          description: 'True: an area of attention (AA) overlaps the parcel, whatever the level; false: no such area overlaps',
          null: 'no such area overlaps, and landslide_mapped is false', gate: truth,
        },
      },
    },
  },
  usual: true,
  brief: true,
  flat: {
    seismic_zone: { type: 'int2' }, seismic_zone_label: { type: 'text' }, seismic_zone_exact: { type: 'bool' }, pga_g: { type: 'float8', of: 'pga' },
    flood_level: { type: 'text' }, flood_share: { type: 'float8' }, landslide_level: { type: 'text' }, landslide_share: { type: 'float8' },
    landslide_attention: { type: 'bool' }, pga_coverage: { type: 'text', of: 'coverage.pga' }, flood_coverage: { type: 'text', of: 'coverage.flood' },
    landslide_coverage: { type: 'text', of: 'coverage.landslide' },
  },
});
