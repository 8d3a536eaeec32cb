/**
 * Writes the seismic classification of the synthetic region in the layout of 2024, with labels of every kind and a repeated row. The classification
 * is older than the list of comuni. One comune has its former code, and a merged comune is listed as its former parts.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { itemAt } from '../../pipelines/synthetic/items.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { formerIstatCode, mergedComuni } from '../../pipelines/synthetic/former-codes.ts';
import type { SyntheticRegion, SyntheticComune } from '../../pipelines/synthetic/region.ts';

/** Pairs of a label and its most severe zone. Constants are used, so that the reader's rule is not tested against itself. */
const LABELS: readonly (readonly [string, number])[] = [
  ['2', 2], ['3S', 3], ['2A-3A-3B', 2], ['1', 1], ['4', 4], ['1-2A', 1], ['3A-3B', 3], ['2B', 2], ['3', 3], ['2B-3A', 2], ['3A', 3], ['2A', 2],
];

function zoneOf(region: SyntheticRegion, comune: SyntheticComune): readonly [string, number] {
  return comune.index < LABELS.length ? itemAt(LABELS, comune.index) : region.random('seismic', comune.belfiore).pick(LABELS);
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const rows = region.comuni.flatMap((comune) => {
      const parts = mergedComuni(comune);
      const row = (name: string, code: string, label: string): string =>
        [region.name, comune.province.name, comune.province.sigla, name, String(Number(code)), label].join(';');
      const [label] = zoneOf(region, comune);
      if (parts.length === 0) return [row(comune.italianName, formerIstatCode(comune) ?? comune.istatCode, label)];
      // The last part has the most severe zone, and the others have the mildest zone.
      return parts.map(({ name, istatCode }, index) => row(name, istatCode, index === parts.length - 1 ? label : '4'));
    });
    const lines = ['REGIONE;PROV_CITTA_METROPOLITANA;SIGLA_PROV;COMUNE;COD_ISTAT_COMUNE;ZONA_SISMICA', ...rows, itemAt(rows, 0)];
    await writeFile(join(folder, 'classificazione-sismica-aggiornata-maggio-2025.csv'), `\ufeff${lines.join('\r\n')}\r\n`);
  },
  truth(region) {
    return ({ comune }) => {
      const [label, zone] = zoneOf(region, comune);
      // The zone of a parcel is not exact if the label has several zones, or if the comune was merged from comuni with different zones.
      const exact = !label.includes('-') && (mergedComuni(comune).length === 0 || label === '4');
      return { risk: { seismic_zone: zone, seismic_zone_label: label, seismic_zone_exact: exact } };
    };
  },
};
export default synthetic;
