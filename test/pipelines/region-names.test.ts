/** Tests the names of regions in file names. */
import { describe, expect, it } from 'vitest';
import { REGIONS, regionsInName } from '../../pipelines/contract/regions.ts';

const named = (file: string): string[] => regionsInName(file).map(({ slug }) => slug);

describe('the regions in a file name', () => {
  it.each([
    ['MOLISE.zip', 'molise'], ['indirizzarioMolise20260602.zip', 'molise'], ['stradario_emilia-romagna.csv', 'emilia-romagna'],
    ['FriuliVeneziaGiulia_pai.gpkg', 'friuli-venezia-giulia'], ['pai_lazio2024.zip', 'lazio'], ['indirizzariolazio.zip', 'lazio'],
    ["Valle d'Aosta.zip", 'valle-daosta'],
  ])('are found in %s: %s', (file, slug) => {
    expect(named(file)).toEqual([slug]);
  });

  it.each(['Relazione_2024.zip', 'popolazione.csv', 'legislazione.pdf', '2024.zip', ''])('do not include a name in the middle of a word: %j', (file) => {
    expect(named(file)).toEqual([]);
  });

  it('include several regions of one file', () => {
    expect(named('Lazio_Umbria.zip')).toEqual(['umbria', 'lazio']);
  });

  it.each(REGIONS)('include $name, whatever the separators', ({ name, slug }) => {
    expect(named(`pai_${name.replaceAll(/[ '-]/g, '_').toUpperCase()}_2024.gpkg`)).toContain(slug);
  });
});
