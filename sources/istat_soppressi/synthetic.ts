/** Suppressed comuni of the invented region: a merger, a division, one that went abroad. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Synthetic } from '../../pipelines/kit/source.ts';

const HEADER = 'Anno;Sigla Automobilistica;Codice Unità territoriale sovracomunale (Uts);Codice Comune;Denominazione Comune;Comune soppresso per scorporo;Data evento;'
  + 'Codice del Comune associato alla variazione;Denominazione Comune associato alla variazione;Codice Unità territoriale sovracomunale associato alla variazione;'
  + 'Sigla Automobilistica associata alla variazione;;;;;';

const synthetic: Synthetic = {
  async write(world, folder) {
    const [first, second] = [world.comuni[0]!, world.comuni[1]!];
    const row = (year: string, day: string, code: string, name: string, divided: string, into: typeof first | null): string => [
      year, first.province.sigla, first.province.code, `${first.province.code}${code}`, name, divided, `${day}/${year}`,
      into?.istatCode ?? '', into?.italianName ?? 'Stato estero', into?.province.code ?? '-', into?.province.sigla ?? '-', '', '', '', '', '',
    ].join(';');
    await writeFile(join(folder, 'comuni-soppressi.csv'), `${[
      HEADER,
      row('2020', '01/01', '191', 'Nonsò di Sotto', '', first),
      row('1928', '15/04', '192', 'Roccapparente Vecchia', '1', first),
      row('1928', '15/04', '192', 'Roccapparente Vecchia', '1', second),
      row('1947', '16/09', '193', 'Oltreconfine', '', null),
    ].join('\n')}\n`);
  },
};
export default synthetic;
