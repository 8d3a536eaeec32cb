/** Tests the coverage maps of a report: comuni are drawn with their boundaries or as squares, and a note states which comuni are drawn differently. */
import { describe, expect, it } from 'vitest';
import { coverageMap, groundOf } from '../../api/report/coverage-map.ts';
import type { ComuneCoverage, Outline } from '../../pipelines/operate/region-report.ts';

const comune = (belfiore: string): ComuneCoverage => ({ belfiore, name: `Comune ${belfiore}`, province_code: '070', province_name: 'Campobasso', parcels_asked: 1, sections: [] });

const outline = (belfiore: string, lng: number): Outline => ({ belfiore, geometry: { coordinates: [[[[lng, 41], [lng + 1, 41], [lng + 1, 42], [lng, 41]]]] } });

const COMUNI = [comune('A001'), comune('A002')];

describe('the coverage map of a report', () => {
  it('draws comuni with their boundaries and has no note if all boundaries are loaded', () => {
    const ground = groundOf(COMUNI, [outline('A001', 14), outline('A002', 15)]);
    expect([[...ground.known], ground.note]).toEqual([['A001', 'A002'], '']);
  });

  it.each([
    ['no boundaries are loaded', []],
    ['only boundaries of other comuni are loaded', [outline('Z999', 14)]],
    ['the boundaries of these comuni are empty', [{ belfiore: 'A001', geometry: { coordinates: [] } }, { belfiore: 'A002', geometry: null }, outline('Z999', 14)]],
  ])('draws comuni as squares, with a note, if %s', (_condition, outlines: readonly Outline[]) => {
    const ground = groundOf(COMUNI, outlines);
    expect([...ground.known]).toEqual(['A001', 'A002']);
    expect(ground.note).toBe('No boundaries of these comuni are loaded, so comuni are drawn as squares, sorted by name.');
    expect(coverageMap('risk', COMUNI, () => 'mapped', ground).toString()).toContain('<use href="#comuni"/>');
    expect(ground.definitions.toString()).toMatch(/<path id="c-A001" d="M0.0 0.0h[^"]+z">/);
  });

  it('states how many comuni are not drawn if some boundaries are not loaded', () => {
    const ground = groundOf(COMUNI, [outline('A001', 14), { belfiore: 'A002', geometry: null }]);
    expect([[...ground.known], ground.note]).toEqual([['A001'], 'Comuni without a loaded boundary are not drawn (1 of 2).']);
  });
});
