/** Tests that the scripts of the map keep their state in one object, which only named transitions change. Also tests how the map reads parcel references. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const FOLDER = fileURLToPath(new URL('../../api/pages/map/', import.meta.url));
const { readCadastral } = (await import(`${FOLDER}cadastral.js`)) as { readCadastral: (text: string) => unknown };
const scripts = readdirSync(FOLDER).filter((name) => name.endsWith('.js')).map((name) => ({ name, text: readFileSync(FOLDER + name, 'utf8') }));

describe('a script of the map', () => {
  it.each(scripts)('has no state variable outside the state object: $name', ({ text }) => {
    expect(text.match(/^(?:export )?(?:let|var) .*/gm)).toBeNull();
  });

  it.each(scripts.filter(({ name }) => name !== 'state.js'))('changes the state only through transitions: $name', ({ text }) => {
    expect(text.match(/\bstate(?:\.\w+)+(?:\[[^\]]*\])? (?:[-+*/|&?]*=) .*|Object\.assign\(state\b.*|\bstate\.\w+\.(?:set|delete|push|splice)\(.*/g)).toBeNull();
  });
});

describe('the search field', () => {
  it.each([
    ['H833_001300.594', { reference: 'H833_001300.594' }],
    ['CadastralParcel.IT.AGE.PLA.h833_001300.594', { reference: 'CadastralParcel.IT.AGE.PLA.h833_001300.594' }],
    ['IT.TN.123.45/6', { reference: 'IT.TN.123.45/6' }],
    ['San Felice foglio 13 particella 594', { comune: 'San Felice', foglio: '13', label: '594' }],
    ['foglio 13, particella 594, San Felice del Molise', { comune: 'San Felice del Molise', foglio: '13', label: '594' }],
    ['Comune di Forlì Fg. 2 Mapp. 12/a sez. B', { comune: 'Forlì', foglio: '2', label: '12/a', sezione: 'B' }],
    ['H833 f.13 p.594', { comune: 'H833', foglio: '13', label: '594' }],
    ['h833 13 594', { comune: 'H833', foglio: '13', label: '594' }],
    ['Lana part. .12', { comune: 'Lana', label: '.12' }],
  ])('finds a parcel reference in %s', (text, question) => {
    expect(readCadastral(text)).toEqual(question);
  });

  it.each(['Via Roma 12', 'P. Garibaldi 3', 'Via Foglio', 'foglio 13', 'Piazza Particella', '41.5, 14.6', 'Campobasso', 'Via Roma 12/3'])('finds no parcel reference in %s', (text) => {
    expect(readCadastral(text)).toBeNull();
  });
});
