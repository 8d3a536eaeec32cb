/** Tests addresses that are written differently from the register. Each form finds the street and number at rank 1. */
import { beforeAll, expect, it } from 'vitest';
import { parseQuery } from '../../pipelines/address/parse-query.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { ADDRESS_SOURCES, ADDRESS_SQL, buildAddresses } from '../harness/address-workspace.ts';
import { describeEngines } from '../harness/database.ts';
import { addStreets, type MadeStreet } from '../harness/made-streets.ts';
import { firstOf } from '../harness/phrasings.ts';
import { sectionWorkspace } from '../harness/section-workspace.ts';

const region = makeRegion({ parcels: 2_000, seed: 11 });
const random = randomOf('phrasings');
const comune = random.pick(region.comuni);
const number = 20 + random.below(150);
const name = comune.italianName;
const { sigla, name: province } = comune.province;
const postalCode = '86999';

const STREETS: readonly MadeStreet[] = [
  { name: 'VIA ETTORE FIERAMOSCA', numbers: [number] },
  { name: 'CORSO SANTA LUCIA', numbers: [number] },
  { name: 'PIAZZA DEI TIGLI', numbers: [number] },
  { name: 'VIA NAZIONALE', numbers: [number] },
  { name: 'STRADA PROVINCIALE NUOVA', numbers: [number] },
  { name: 'VIA PONTE VECCHIO', numbers: [number] },
  { name: 'VIALE DELLA VALLE INFERIORE', numbers: [number] },
  { name: 'VIA TRAVERSA TIGLI', numbers: [number] },
  { name: 'CIRCONVALLAZIONE NORD', numbers: [number] },
];

const FIERAMOSCA = 'Via Ettore Fieramosca';
/** Pairs of a query, with `#` for the number, and the expected street. */
const PHRASINGS: readonly (readonly [query: string, street: string])[] = [
  // Firms, persons, buildings and churches before the street
  ...['Trattoria da Gino', 'Farmacia Centrale', 'Scuola elementare', 'Municipio', 'Avv. Bianchi Lucia', 'Gent.ma Sig.ra Neri', 'Egr. Dott. Verdi', 'Fam. Gialli', 'Ditta Neri e figli',
    'Rossi S.r.l.', 'Bar 2000', 'Studio tecnico 3C', 'Chiesa di Santa Rita', 'Parrocchia San Biagio', 'Condominio Aurora', 'Palazzo Bruni', 'Verdi Snc', 'Ufficio postale', 'Hotel Il Borgo',
    'Supermercato Ponte', 'B&B La Torre', 'Destinatario', 'All\'attenzione di Rossi'].map((who) => [`${who} via ettore fieramosca # ${name}`, FIERAMOSCA] as const),
  ...['Trattoria da Gino', 'Ditta Neri', 'Spett. Verdi Luca', 'Chiesa Madre', 'Uff. 12'].map((who) => [`${who}, Via Ettore Fieramosca #, ${name}`, FIERAMOSCA] as const),
  [`Neri Anna, Studio legale, via ettore fieramosca #, ${name}`, FIERAMOSCA],
  [`presso Neri Anna, via ettore fieramosca #, ${name}`, FIERAMOSCA],
  [`Casa Vinicola Piazza dei Tigli # ${name}`, 'Piazza dei Tigli'],
  [`gommista corso s. lucia # ${name}`, 'Corso Santa Lucia'],
  // Labels that forms and map services write before an address
  ...['indirizzo:', 'Indirizzo', 'ind.', 'sede legale:', 'recapito', 'google maps', 'mappa di', 'address:', 'mappe', 'cartina', 'ubicazione:', 'domicilio', 'residente in', 'si trova in']
    .map((label) => [`${label} via ettore fieramosca # ${name}`, FIERAMOSCA] as const),
  // Postal codes, countries, provinces, `Comune di`
  [`${postalCode} via ettore fieramosca #`, FIERAMOSCA],
  [`${postalCode}, via ettore fieramosca #`, FIERAMOSCA],
  [`${postalCode} ${name} via ettore fieramosca #`, FIERAMOSCA],
  [`via ettore fieramosca #, c.a.p. ${postalCode} ${name}`, FIERAMOSCA],
  [`via ettore fieramosca # cap ${postalCode}`, FIERAMOSCA],
  [`via ettore fieramosca # - ${postalCode} ${name} (${sigla}) - Italy`, FIERAMOSCA],
  [`via ettore fieramosca # ${name} Italien`, FIERAMOSCA],
  [`via ettore fieramosca #, ${name}, ITALIA`, FIERAMOSCA],
  [`via ettore fieramosca #, ${name}, Italië`, FIERAMOSCA],
  [`via ettore fieramosca # ${name} provincia di ${province}`, FIERAMOSCA],
  [`via ettore fieramosca # ${name}, prov. ${sigla}`, FIERAMOSCA],
  [`via ettore fieramosca # ${name} ${province}`, FIERAMOSCA],
  [`via ettore fieramosca # ${name} ${region.name}`, FIERAMOSCA],
  [`via ettore fieramosca #, ${name}, provincia di ${province}, regione ${region.name}`, FIERAMOSCA],
  [`via ettore fieramosca # (${name})`, FIERAMOSCA],
  [`Comune di ${name} - via ettore fieramosca #`, FIERAMOSCA],
  [`${name} (${sigla}), via ettore fieramosca #`, FIERAMOSCA],
  [`${name} - via ettore fieramosca #`, FIERAMOSCA],
  [`${name} ${sigla} via ettore fieramosca #`, FIERAMOSCA],
  // Parts of the building
  [`via ettore fieramosca # piano 2 int. 5 ${name}`, FIERAMOSCA],
  [`via ettore fieramosca #, palazzina B, ${name}`, FIERAMOSCA],
  [`via ettore fieramosca # interno 7, scala C - ${name}`, FIERAMOSCA],
  // Parts of the comune
  [`loc. Piana via ettore fieramosca # ${name}`, FIERAMOSCA],
  [`frazione Alta, via ettore fieramosca #, ${name}`, FIERAMOSCA],
  [`quartiere Nord via ettore fieramosca # ${name}`, FIERAMOSCA],
  // Joined words or a different order
  [`via ettore fieramosca# ${name}`, FIERAMOSCA],
  [`viaettore fieramosca # ${name}`, FIERAMOSCA],
  [`ettore fieramosca via # ${name}`, FIERAMOSCA],
  [`fieramosca ettore via # ${name}`, FIERAMOSCA],
  [`via fieramosca ettore # ${name}`, FIERAMOSCA],
  [`# via ettore fieramosca ${name}`, FIERAMOSCA],
  [`n.# via ettore fieramosca ${name}`, FIERAMOSCA],
  [`via ettore fieramosca nr.# ${name}`, FIERAMOSCA],
  [`via ettore fieramosca; #; ${name}`, FIERAMOSCA],
  [`VIA ETTORE FIERAMOSCA,#,${name.toUpperCase()}`, FIERAMOSCA],
  // Abbreviations by first and last letters
  [`via nazle # ${name}`, 'Via Nazionale'],
  [`via naz.le # ${name}`, 'Via Nazionale'],
  [`v. nazle # ${name}`, 'Via Nazionale'],
  [`str. prov.le nva # ${name}`, 'Strada Provinciale Nuova'],
  [`via p.te vcchio # ${name}`, 'Via Ponte Vecchio'],
  [`vle della v.lle inf.re # ${name}`, 'Viale della Valle Inferiore'],
  [`c.vne nord # ${name}`, 'Circonvallazione Nord'],
  [`crso s.ta lucia # ${name}`, 'Corso Santa Lucia'],
];

describeEngines('an unusual form of an address', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    const workspace = await sectionWorkspace(database, { region, sources: ADDRESS_SOURCES, sql: ADDRESS_SQL });
    await buildAddresses(workspace, database, region);
    const streets = STREETS.map((street) => ({ ...street, name: street.name.charAt(0) + street.name.slice(1).toLowerCase() }));
    await addStreets(database, region.code, comune.belfiore, streets);
    await database.query('insert into core.comune_name values ($1, $2::text, $3, $4, $2::text)', [region.code, postalCode, comune.belfiore, 'postal_code']);
  });

  const found = async (query: string): Promise<string> => {
    const first = await firstOf(database, query, parseQuery);
    return first === undefined ? 'nothing' : `${first.street_name} ${first.street_number}, ${first.municipality_code}`.toLowerCase();
  };

  it('finds the address at rank 1 despite added, joined, reordered or abbreviated words', async () => {
    const missed: string[] = [];
    for (const [phrasing, street] of PHRASINGS) {
      const query = phrasing.replace('#', String(number));
      const first = await found(query);
      if (first !== `${street} ${number}, ${comune.belfiore}`.toLowerCase()) missed.push(`${query} → ${first}`);
    }
    expect(missed).toEqual([]);
    expect(PHRASINGS.length).toBeGreaterThanOrEqual(60);
  });

  it('is searched without its leading words only if the rest is exactly the name of a street', async () => {
    for (const query of [`trattoria via ettore # ${name}`, `trattoria via ettore fieramosca nuova # ${name}`]) {
      expect(await found(query.replace('#', String(number))), query).not.toContain('fieramosca');
    }
    expect(await found(`via traversa tigli ${number} ${name}`)).toBe(`via traversa tigli ${number}, ${comune.belfiore}`.toLowerCase());
  });
});
