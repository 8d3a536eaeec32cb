/** Suppressed comuni of the synthetic region: mergers, one of them in two steps, a division, and a cession to another state. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { mergedComuni, type FormerComune } from '../../pipelines/synthetic/former-codes.ts';
import type { SyntheticComune } from '../../pipelines/synthetic/region.ts';

const HEADER = 'Anno;Sigla Automobilistica;Codice Unità territoriale sovracomunale (Uts);Codice Comune;Denominazione Comune;Comune soppresso per scorporo;Data evento;'
  + 'Codice del Comune associato alla variazione;Denominazione Comune associato alla variazione;Codice Unità territoriale sovracomunale associato alla variazione;'
  + 'Sigla Automobilistica associata alla variazione;;;;;';

const synthetic: Synthetic = {
  async write(region, folder) {
    const [first, second] = region.comuni;
    const line = (year: string, day: string, old: FormerComune, { province }: SyntheticComune, divided: string, into: FormerComune | null): string => [
      year, province.sigla, province.code, old.istatCode, old.name, divided, `${day}/${year}`,
      into?.istatCode ?? '', into?.name ?? 'Stato estero', into === null ? '-' : into.istatCode.slice(0, 3), into === null ? '-' : province.sigla, '', '', '', '', '',
    ].join(';');
    const asFormer = ({ istatCode, italianName }: SyntheticComune): FormerComune => ({ istatCode, name: italianName });
    const row = (year: string, day: string, code: string, name: string, divided: string, into: SyntheticComune | null): string =>
      line(year, day, { istatCode: `${first.province.code}${code}`, name }, first, divided, into === null ? null : asFormer(into));
    const mergers = region.comuni.flatMap((comune) => {
      const parts = mergedComuni(comune);
      const earlier = parts.slice(0, 1).map((into) => line('1950', '01/07', { istatCode: `${comune.province.code}195`, name: 'Fintaria Antica' }, comune, '', into));
      return [...parts.map((part) => line('2020', '01/01', part, comune, '', asFormer(comune))), ...earlier];
    });
    await writeFile(join(folder, 'comuni-soppressi.csv'), `${[
      HEADER,
      ...mergers,
      row('2020', '01/01', '191', 'Nonsò di Sotto', '', first),
      row('1928', '15/04', '192', 'Roccapparente Vecchia', '1', first),
      row('1928', '15/04', '192', 'Roccapparente Vecchia', '1', second),
      row('1947', '16/09', '193', 'Oltreconfine', '', null),
    ].join('\n')}\n`);
  },
};
export default synthetic;
