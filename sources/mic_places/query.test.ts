/** Tests `query.sparql` on the endpoint's description of one museum, if the developer has a copy, and on invented places in the same vocabulary. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { realData } from '../../test/harness/real-data.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';
import { answerOf, readQuery, readTurtle, type Solution, type Triple } from '../../test/harness/triples.ts';
import { ANSWER } from './schema.ts';
import source from './source.ts';

const text = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const QUERY = readQuery(text('query.sparql'));
const REAL = realData('mic/describe_museum_100000.md');

const folder = temporaryFolder();

/** Writes a query result as CSV, reads the CSV, and returns the staged rows as objects with column names. */
async function staged(answer: readonly Solution[]): Promise<Readonly<Record<string, unknown>>[]> {
  const cell = (value = ''): string => `"${value.replaceAll('"', '""')}"`;
  const file = join(folder, 'luoghi_della_cultura_20261101.csv');
  await writeFile(file, [QUERY.variables, ...answer.map((row) => QUERY.variables.map((name) => row[name]))].map((cells) => `${cells.map(cell).join(',')}\n`).join(''));
  const { collected, error } = await trial(source, file);
  expect(error).toBeNull();
  return collected!.rows['raw_cultural_place'] as Readonly<Record<string, unknown>>[];
}

/**
 * Returns the triples in those Turtle blocks of the published example that describe places. The first block ends with text that is not Turtle, because another
 * subject follows a semicolon.
 */
function describedTriples(markdown: string): Triple[] {
  const [places = ''] = markdown.split('\n## Events');
  return [...places.matchAll(/```sparql\n([\s\S]*?)```/g)].map(([, block = '']) => block).filter((block) => block.startsWith('@prefix'))
    .flatMap((block) => readTurtle(block.replace(/;\s*ns17:_[\s\S]*$/, '.\n')));
}

describe('the query of places of culture', () => {
  it('requests one page of 2,000 rows with the reader\'s columns, without sorting, grouping, filters, counts or `distinct`', () => {
    expect(QUERY).toMatchObject({ limit: 2000, offset: 0 });
    expect([...QUERY.variables].sort()).toEqual([...ANSWER.query].sort());
    expect(text('query.sparql').replace(/^#.*$/gm, '')).not.toMatch(/order\s+by|group\s+by|filter|count|distinct/i);
  });

  it.skipIf(REAL === null)('fills every variable for the museum that the endpoint describes', async () => {
    const described = describedTriples(readFileSync(REAL!, 'utf8'));
    // The published example does not describe the province and the discipline, so the test adds their labels.
    const labels = described.flatMap(([, predicate, object]): Triple[] => (
      /(?:hasProvince|hasDiscipline)>$/.test(predicate) ? [[object, '<http://www.w3.org/2000/01/rdf-schema#label>', `"${object.slice(object.lastIndexOf('/') + 1, -1)}"`]] : []
    ));
    expect(labels).toHaveLength(2);
    const answer = answerOf(QUERY, [...described, ...labels]);
    const uri = 'http://dati.beniculturali.it/mibact/luoghi/resource/CulturalInstituteOrSite/100000';
    const [name, lat, lon] = ['Museo civico aufidenate "Antonio De Nino"', '41.734238', '14.032534'];
    expect(answer).toEqual([{
      id: uri, nome_istituzionale: name, etichetta: name, tipo: 'Museo, Galleria e/o raccolta', disciplina: 'Contenuti_Editoriali', indirizzo: 'Viale Mansueto De Amicis - Alfedena', cap: '67030',
      comune: 'Alfedena', provincia: 'L_Aquila', lat, lon, lat_luogo: lat, lon_luogo: lon, lat_sede: lat, lon_sede: lon, codice_catalogo: 'DBUnico.100000',
    }]);
    expect(await staged(answer)).toMatchObject([{
      place_id: uri, name, type: 'Museo, Galleria e/o raccolta', address: 'Viale Mansueto De Amicis - Alfedena', comune: 'Alfedena', comune_key: 'alfedena', lat: 41.734238, lon: 14.032534,
      catalog_code: 'DBUnico.100000', street_types: ['viale'], street_words: ['amicis', 'mansueto'], number: null,
    }]);
  });

  it('gives one row per discipline for invented places in the same vocabulary, and one row for a place with only a label', () => {
    const place = (number: number): string => `http://example.org/made/${number}`;
    const first = {
      id: place(1), nome_istituzionale: 'Museo di nulla', etichetta: 'Museo di nulla, etichetta', tipo: 'Museo, Galleria e/o raccolta', codice_catalogo: 'DBUnico.1',
      lat: '41.501', lon: '14.501', lat_luogo: '41.502', lon_luogo: '14.502', lat_sede: '41.503', lon_sede: '14.503',
      indirizzo: 'Via Roma, 12 - Campo Finto', cap: '86100', comune: 'Campo Finto', provincia: 'Campobasso',
    };
    expect(answerOf(QUERY, readTurtle(text('fixture/made_endpoint.ttl')))).toEqual([
      { ...first, disciplina: 'Storia' }, { ...first, disciplina: 'Arte' },
      { id: place(2), etichetta: 'Biblioteca senza punto', indirizzo: 'Viale Finto 3', comune: 'Campo Finto' },
      { id: place(3), etichetta: 'Archivio con il punto della sede', lat_sede: '41.504', lon_sede: '14.504' },
    ]);
  });

  it('returns places that are read with the first complete pair of coordinates, and with the label only if there is no institutional name', async () => {
    expect(await staged(answerOf(QUERY, readTurtle(text('fixture/made_endpoint.ttl'))))).toMatchObject([
      { name: 'Museo di nulla', class: 'Storia', lat: 41.501, lon: 14.501, number: 12, street_words: ['roma'], comune_key: 'campo finto' },
      { name: 'Museo di nulla', class: 'Arte' },
      { name: 'Biblioteca senza punto', lat: null, lon: null, number: 3, street_words: ['finto'] },
      { name: 'Archivio con il punto della sede', lat: 41.504, lon: 14.504, number: null, comune: null },
    ]);
  });
});
