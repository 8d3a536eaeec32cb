/** Writes suppressed comuni of the synthetic region: mergers (one of them in two steps), a division, and a cession to another state. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { mergedComuni, type FormerComune } from '../../pipelines/synthetic/former-codes.ts';
import type { SyntheticComune } from '../../pipelines/synthetic/region.ts';

const HEADER = 'Anno;Sigla Automobilistica;Codice Unità territoriale sovracomunale (Uts);Codice Comune;Denominazione Comune;Comune soppresso per scorporo;Data evento;'
  + 'Codice del Comune associato alla variazione;Denominazione Comune associato alla variazione;Codice Unità territoriale sovracomunale associato alla variazione;'
  + 'Sigla Automobilistica associata alla variazione;;;;;';

interface Event {
  readonly year: string;
  readonly day: string;
  readonly old: FormerComune;
  /** Current comune in the same province as the former comune. */
  readonly comune: SyntheticComune;
  /** `1` if the comune was divided. */
  readonly divided?: string;
  /** Comune that took over the territory; null if another state took over. */
  readonly into: FormerComune | null;
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const [first, second] = region.comuni;
    const line = ({ year, day, old, comune: { province }, divided = '', into }: Event): string => [
      year, province.sigla, province.code, old.istatCode, old.name, divided, `${day}/${year}`,
      into?.istatCode ?? '', into?.name ?? 'Stato estero', into === null ? '-' : into.istatCode.slice(0, 3), into === null ? '-' : province.sigla, '', '', '', '', '',
    ].join(';');
    const asFormer = ({ istatCode, italianName }: SyntheticComune): FormerComune => ({ istatCode, name: italianName });
    const invented = (code: string, name: string): Pick<Event, 'old' | 'comune'> => ({ old: { istatCode: `${first.province.code}${code}`, name }, comune: first });
    const divided = { ...invented('192', 'Roccapparente Vecchia'), year: '1928', day: '15/04', divided: '1' };
    const mergers = region.comuni.flatMap((comune) => {
      const parts = mergedComuni(comune);
      const earlier = parts.slice(0, 1).map((into) => (
        line({ year: '1950', day: '01/07', old: { istatCode: `${comune.province.code}195`, name: 'Fintaria Antica' }, comune, into })
      ));
      return [...parts.map((part) => line({ year: '2020', day: '01/01', old: part, comune, into: asFormer(comune) })), ...earlier];
    });
    await writeFile(join(folder, 'comuni-soppressi.csv'), `${[
      HEADER,
      ...mergers,
      line({ ...invented('191', 'Nonsò di Sotto'), year: '2020', day: '01/01', into: asFormer(first) }),
      line({ ...divided, into: asFormer(first) }),
      line({ ...divided, into: asFormer(second) }),
      line({ ...invented('193', 'Oltreconfine'), year: '1947', day: '16/09', into: null }),
    ].join('\n')}\n`);
  },
};
export default synthetic;
