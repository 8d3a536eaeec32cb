/**
 * Generates streets and accesses of the synthetic region, and determines the parcel of each access. The synthetic address file and the synthetic files of
 * points use these accesses. An access is inside a land parcel, or on a road or water near a land parcel or far from one. Some accesses have no usable
 * coordinates. Distances are computed without PostGIS.
 */
import { cyclicItem, itemAt } from './items.ts';
import { firstLand } from './make-region.ts';
import { placeOf, pointToPolygonsM } from './plane-geometry.ts';
import type { LonLat, Random, SyntheticCell, SyntheticComune, SyntheticParcel, SyntheticRegion } from './region.ts';

const NEAR_M = 15;
const MOST_PER_PARCEL = 20;

/** A street. `odonimo` and `localita` are as published; `name` and `locality` are as in parcel records. */
export interface Street {
  readonly key: number;
  readonly comune: SyntheticComune;
  readonly odonimo: string;
  readonly name: string;
  readonly localita: string;
  readonly locality: string;
  readonly lingua1: string;
}

export interface Access {
  readonly key: number;
  readonly street: Street;
  readonly codice: string;
  readonly civico: string;
  readonly esponente: string;
  readonly specificita: string;
  readonly metrico: string;
  readonly snc: string;
  /** Published coordinate with a decimal comma; empty for an access without coordinates. */
  readonly x: string;
  readonly y: string;
  readonly quota: string;
  readonly metodo: string;
  /** House number as in parcel records. */
  readonly shown: string;
  /** Point of the access; null if the point is missing or implausible. */
  readonly point: LonLat | null;
}

/** Streets that every comune has, for test queries: published name (odonimo), displayed name, published locality, displayed locality. */
const USUAL: readonly (readonly [string, string, string, string])[] = [
  ['VIA ROMA', 'Via Roma', '', ''],
  ['VIALE ROMA', 'Viale Roma', '', ''],
  ['VIA XX SETTEMBRE', 'Via XX Settembre', '', ''],
  ['PIAZZA PRIMO MAGGIO', 'Piazza Primo Maggio', '', ''],
  ['VIA LEOPOLDO II', 'Via Leopoldo II', '', ''],
  ['CORSO VITTORIO EMANUELE SECONDO', 'Corso Vittorio Emanuele Secondo', '', ''],
  ["VIA SANT'ANNA", "Via Sant'Anna", '', ''],
  ["VIA D'ANNUNZIO", "Via d'Annunzio", '', ''],
  ['VIA GIUSEPPE GARIBALDI', 'Via Giuseppe Garibaldi', '', ''],
  ['STRADA PROVINCIALE 12', 'Strada Provinciale 12', '', ''],
  ['STRADA STATALE 18', 'Strada Statale 18', '', ''],
  ['CONTRADA FORNACE', 'Contrada Fornace', "LOCALITA' PIANO", "Localita' Piano"],
  ['CONTRADA FORNACE', 'Contrada Fornace', 'BORGO BASSO', 'Borgo Basso'],
  ["LOCALITA' PIAN DI NULLA", "Localita' Pian di Nulla", '', ''],
  ['VIA MUSEO / MUSEUMSTRASSE', 'Via Museo / Museumstrasse', '', ''],
  ['VIA FINTA', 'Via Finta', '', ''],
];
const NOUNS = ['ACACIE', 'BETULLE', 'CEDRI', 'FAGGI', 'GELSI', 'LARICI', 'MANDORLI', 'NOCI', 'OLMI', 'PIOPPI', 'QUERCE', 'ROBINIE', 'SALICI', 'TIGLI', 'ULIVI', 'VITI'];
const ADJECTIVES = ['ALTE', 'BASSE', 'CHIARE', 'DORATE', 'FITTE', 'GRANDI', 'LARGHE', 'MINORI', 'NUOVE', 'OMBROSE', 'PICCOLE', 'RARE', 'SPARSE', 'VECCHIE'];

const capital = (word: string): string => word.charAt(0) + word.slice(1).toLowerCase();

export function streetsOf(comune: SyntheticComune): Street[] {
  const first = 9_000_000 + comune.index * 1_000;
  const streets: Street[] = USUAL.map(([odonimo, name, localita, locality], index) => ({
    key: first + index, comune, odonimo, name, localita, locality, lingua1: comune.otherName !== null && odonimo === 'VIA ROMA' ? 'ROMSTRASSE' : '',
  }));
  // Adds two unusual names. The first name was encoded twice, and the second name contains a lower-case letter.
  if (comune.index === 0) {
    streets.push({ key: first + 900, comune, odonimo: 'VIA CIR\u00c3\u00b2', name: 'Via Cir\u00f2', localita: '', locality: '', lingua1: '' });
    streets.push({ key: first + 901, comune, odonimo: 'VIA RICCH\u00ee', name: 'Via Ricch\u00ee', localita: '', locality: '', lingua1: 'ITALIANA' });
  }
  const more = Math.min(224, Math.floor(comune.parcelCount / 40));
  for (let i = 0; i < more; i += 1) {
    const noun = cyclicItem(NOUNS, i);
    const adjective = cyclicItem(ADJECTIVES, Math.floor(i / NOUNS.length));
    streets.push({
      key: first + 100 + i, comune, odonimo: `VIA DELLE ${noun} ${adjective}`, name: `Via delle ${capital(noun)} ${capital(adjective)}`, localita: '', locality: '', lingua1: '',
    });
  }
  return streets;
}

/** Returns a point of a cell with at most 7 decimals. The point is the centre of the cell, moved by `dx` of the cell's width and `dy` of the cell's height. */
function pointIn(parcel: SyntheticParcel, cell: readonly [number, number], dx: number, dy: number): LonLat {
  const round = (value: number): number => Math.round(value * 1e7) / 1e7;
  const [lon, lat] = parcel.sheet.place([cell[0] + 0.5 + dx, cell[1] + 0.5 + dy]);
  return [round(lon), round(lat)];
}

const comma = (value: number): string => String(value).replace('.', ',');

export interface PlacedAccesses {
  readonly accesses: readonly Access[];
  /** Parcel index and distance in metres (0 inside the parcel) of each access with a parcel, by key of the access. */
  readonly owners: ReadonlyMap<number, { readonly parcel: number; readonly distance: number }>;
  /** Accesses in the record of each parcel, keyed by parcel index and in the order of the record. A record contains at most `MOST_PER_PARCEL` accesses. */
  readonly owned: ReadonlyMap<number, readonly Access[]>;
}

/** Cache of the last requested comune of each region, because several sources request the same comune. */
const latest = new WeakMap<SyntheticRegion, { readonly comune: SyntheticComune; readonly placed: PlacedAccesses }>();

/** Returns the accesses of a comune, and the parcel of each access. */
export function accessesOf(region: SyntheticRegion, comune: SyntheticComune): PlacedAccesses {
  const before = latest.get(region);
  if (before?.comune === comune) return before.placed;
  const placed = place(region, comune);
  latest.set(region, { comune, placed });
  return placed;
}

function place(region: SyntheticRegion, comune: SyntheticComune): PlacedAccesses {
  const placing = new Placing(region, comune);
  for (const sheet of region.sheets(comune)) placing.addSheet([...region.parcelsOf(sheet)]);
  placing.addQuestions();
  return placing.placed();
}

/** Generates the accesses of one comune. */
class Placing {
  readonly #region: SyntheticRegion;
  readonly #comune: SyntheticComune;
  readonly #random: Random;
  readonly #streets: readonly Street[];
  readonly #accesses: Access[] = [];
  /** Accesses inside each parcel, by index of the parcel. */
  readonly #inside = new Map<number, Access[]>();
  readonly #near = new Map<number, { access: Access; distance: number }[]>();
  /** Last house number (civico) so far, by key of the street. */
  readonly #numbers = new Map<number, number>();

  constructor(region: SyntheticRegion, comune: SyntheticComune) {
    this.#region = region;
    this.#comune = comune;
    this.#random = region.random('anncsu', comune.belfiore);
    this.#streets = streetsOf(comune);
  }

  #build(street: Street, parts: Partial<Access>): Access {
    const random = this.#random;
    const key = 100_000_000 + this.#comune.index * 100_000 + this.#accesses.length;
    let { civico } = parts;
    if (civico === undefined) {
      const next = (this.#numbers.get(street.key) ?? 0) + 1 + random.below(2);
      this.#numbers.set(street.key, next);
      civico = String(next);
    }
    const access: Access = {
      key, street, codice: random.below(10) === 0 ? `G${random.below(900)}` : '', civico, esponente: '', specificita: '', metrico: '', snc: '', x: '', y: '', quota: '', metodo: '',
      shown: civico, point: null, ...parts,
    };
    this.#accesses.push(access);
    return access;
  }

  #located(point: LonLat): Partial<Access> {
    const random = this.#random;
    return { point, x: comma(point[0]), y: comma(point[1]), quota: random.pick(['0', ',5', '312,4', '']), metodo: String(1 + random.below(5)) };
  }

  #pickStreet(): Street {
    const street = this.#random.pick(this.#streets);
    // Replaces VIA FINTA, which gets no access, and any STRADA, which gets only the accesses for the test queries.
    return /^VIA FINTA|^STRADA /.test(street.odonimo) ? itemAt(this.#streets, 0) : street;
  }

  #own(parcel: SyntheticParcel, access: Access): void {
    this.#inside.set(parcel.index, [...(this.#inside.get(parcel.index) ?? []), access]);
  }

  /** Adds accesses in the land parcels of a sheet, and on the sheet's roads and waters. */
  addSheet(parcels: readonly SyntheticParcel[]): void {
    for (const parcel of parcels) {
      if (parcel.kind === 'land') {
        this.#placeInside(parcel);
        continue;
      }
      for (const cell of parcel.cells) {
        // Skips cells near the sheet's border, because the nearest parcel may be in a different sheet. Skips two thirds of the other cells at random.
        if (cell[0] < 2 || cell[0] > 9 || cell[1] < 2 || cell[1] > 7 || this.#random.below(3) > 0) continue;
        this.#placeBetween(parcels, parcel, cell);
      }
    }
  }

  #placeInside(parcel: SyntheticParcel): void {
    const [random, { dense }] = [this.#random, this.#region];
    // Italy has 27 million accesses for 87 million parcels. A dense region has about three times as many accesses per parcel.
    const count = parcel.index % (dense ? 97 : 970) === 13 ? 25 : Math.max(0, random.below(dense ? 5 : 12) - (dense ? 2 : 9));
    for (let i = 0; i < count; i += 1) {
      const at = [(random.next() - 0.5) * 0.3, (random.next() - 0.5) * 0.3] as const;
      this.#own(parcel, this.#placeAt(parcel, at, count));
    }
  }

  /**
   * Places one of `count` accesses in the first cell of a parcel. If the cell is at a street of a town, the access is near this street and has the name of the
   * street.
   */
  #placeAt(parcel: SyntheticParcel, [dx, dy]: readonly [number, number], count: number): Access {
    const [random, [cell]] = [this.#random, parcel.cells];
    const town = parcel.sheet.townAt(cell);
    if (town === null || town.side === null) {
      const point = pointIn(parcel, cell, dx, dy);
      return this.#build(this.#pickStreet(), { ...this.#located(point), ...numbering(random) });
    }
    const { side, street, along } = town;
    const towards = side === 'west' || side === 'south' ? -0.2 : 0.2;
    const point = side === 'west' || side === 'east' ? pointIn(parcel, cell, towards, dy) : pointIn(parcel, cell, dx, towards);
    // House numbers increase along the street. Odd numbers are on one side. A parcel with more than two accesses has random numbers.
    const number = 1 + 2 * (along % 30) + (towards < 0 ? 0 : 1);
    const numbered = count > 2 ? numbering(random) : numbering(random, number);
    return this.#build(this.#streetOf(street), { ...this.#located(point), ...numbered });
  }

  /** Returns the published street for the number of a street in the town. Leaves out the same streets as `#pickStreet`. */
  #streetOf(number: number): Street {
    const named = this.#streets.filter(({ odonimo }) => !/^VIA FINTA|^STRADA /.test(odonimo));
    return cyclicItem(named, number * 7 + this.#comune.index);
  }

  /** Places an access in a cell of a road or water. The access belongs to the land parcel around the point, or to the nearest within `NEAR_M` metres. */
  #placeBetween(sheet: readonly SyntheticParcel[], parcel: SyntheticParcel, cell: SyntheticCell): void {
    const random = this.#random;
    const [dx, dy] = [(random.next() - 0.5) * 0.8, (random.next() - 0.5) * 0.8];
    // In the form `place`, a road or water is a strip along the sides of cells. Places the point near the southern side.
    const point = this.#region.form === 'lattice' ? pointIn(parcel, cell, dx, dy) : pointIn(parcel, cell, dx, dy / 8 - 0.5);
    // Two cells in each direction are enough to find the two nearest parcels, because roads and waters are one cell wide.
    const isNear = ([column, row]: SyntheticCell): boolean => Math.abs(column - cell[0]) <= 2 && Math.abs(row - cell[1]) <= 2;
    const lands = sheet.filter((other) => other.kind === 'land' && other.cells.some(isNear));
    const within = lands.find((other) => placeOf(point, other.polygons) === 'inside');
    if (within !== undefined) {
      this.#own(within, this.#build(this.#pickStreet(), this.#located(point)));
      return;
    }
    const distances = lands.map((other) => ({ other, distance: pointToPolygonsM(point, other.polygons) })).sort((a, b) => a.distance - b.distance);
    const [nearest, second] = distances;
    if (nearest === undefined) return;
    // Leaves out an access if a rounding difference in the distance could change the access's parcel or order.
    const others = this.#near.get(nearest.other.index) ?? [];
    if (second !== undefined && second.distance - nearest.distance < 0.05) return;
    if ([0, NEAR_M, ...others.map(({ distance }) => distance)].some((distance) => Math.abs(distance - nearest.distance) < 0.05)) return;
    const access = this.#build(this.#pickStreet(), { ...this.#located(point), esponente: 'A', shown: '' });
    const shown: Access = { ...access, shown: `${access.civico}/A` };
    this.#accesses[this.#accesses.length - 1] = shown;
    if (nearest.distance < NEAR_M) this.#near.set(nearest.other.index, [...others, { access: shown, distance: nearest.distance }]);
  }

  /** Adds the accesses for the test queries, and the accesses without usable coordinates. */
  addQuestions(): void {
    const lands = firstLand(this.#region, this.#comune, 40);
    for (const [index, parts] of questions(this.#comune).entries()) {
      const street = this.#streets.find(({ odonimo, localita }) => odonimo === parts.odonimo && localita === (parts.localita ?? ''));
      if (street === undefined) continue;
      const parcel = cyclicItem(lands, index);
      const point = pointIn(parcel, parcel.cells[0], 0.01, 0.01);
      this.#own(parcel, this.#build(street, { ...this.#located(point), ...parts.access }));
    }
    for (const parts of unlocated(this.#comune)) this.#build(itemAt(this.#streets, 0), parts);
  }

  placed(): PlacedAccesses {
    const [inside, near] = [this.#inside, this.#near];
    const owned = new Map<number, Access[]>();
    for (const index of new Set([...inside.keys(), ...near.keys()])) {
      owned.set(index, [
        ...(inside.get(index) ?? []).sort((a, b) => a.key - b.key),
        ...(near.get(index) ?? []).sort((a, b) => a.distance - b.distance).map(({ access }) => access),
      ].slice(0, MOST_PER_PARCEL));
    }
    const owners = new Map<number, { parcel: number; distance: number }>();
    for (const [parcel, own] of inside) for (const { key } of own) owners.set(key, { parcel, distance: 0 });
    for (const [parcel, own] of near) for (const { access, distance } of own) owners.set(access.key, { parcel, distance });
    return { accesses: this.#accesses, owned, owners };
  }
}

/** Returns the parts of a house number, sometimes with a suffix (esponente) or a colour, or marked as without a number (SNC). */
function numbering(random: Random, number = 1 + random.below(60)): Partial<Access> {
  const civico = String(number);
  switch (random.below(12)) {
    case 0: return { civico, esponente: 'BIS', shown: `${civico}/BIS` };
    case 1: return { civico, esponente: '3', shown: `${civico}/3` };
    case 2: return { civico, specificita: 'ROSSO', shown: `${civico} ROSSO` };
    case 3: return { civico, snc: '1', shown: 'SNC' };
    case 4: return { civico: '', snc: '2', shown: 'SNC' };
    default: return { civico, shown: civico };
  }
}

/** Returns the accesses for the test queries. In a comune of realistic size, no other access with a point has a number above 100. */
function questions(comune: SyntheticComune): { odonimo: string; localita?: string; access: Partial<Access> }[] {
  const number = (odonimo: string, civico: string, esponente = '', specificita = '', localita = ''): { odonimo: string; localita: string; access: Partial<Access> } => ({
    odonimo, localita, access: { civico, esponente, specificita, shown: `${civico}${esponente === '' ? '' : `/${esponente}`}${specificita === '' ? '' : ` ${specificita}`}` },
  });
  return [
    number('VIA ROMA', '112'), number('VIA ROMA', '112', 'A'), number('VIA ROMA', '130', 'B'), number('VIA ROMA', '130', 'BIS'), number('VIA ROMA', '130'),
    number('VIA ROMA', '140', 'BIS'), number('VIA ROMA', '142'), number('VIA ROMA', '151', '', 'ROSSO'), number('VIA ROMA', '151'),
    number('VIA XX SETTEMBRE', '120'), number('VIA XX SETTEMBRE', '120', '3'), number('VIA LEOPOLDO II', '108'), number('CORSO VITTORIO EMANUELE SECONDO', '145'),
    number("VIA D'ANNUNZIO", '106'), number("VIA SANT'ANNA", '105'), number('VIA GIUSEPPE GARIBALDI', '103'), number('PIAZZA PRIMO MAGGIO', '107'),
    number('VIALE ROMA', '113'), number('VIA MUSEO / MUSEUMSTRASSE', '111'), number("LOCALITA' PIAN DI NULLA", '101'),
    number('CONTRADA FORNACE', '109', '', '', "LOCALITA' PIANO"), number('CONTRADA FORNACE', '109', '', '', 'BORGO BASSO'),
    { odonimo: 'STRADA STATALE 18', access: { civico: '', metrico: '3200', shown: 'KM 3+200' } },
    { odonimo: 'STRADA STATALE 18', access: { civico: '', metrico: '45', shown: 'KM 0+045' } },
    { odonimo: 'STRADA PROVINCIALE 12', access: { civico: '', snc: '1', shown: 'SNC' } },
    ...(comune.index === 0 ? [number('VIA CIR\u00c3\u00b2', '102'), number('VIA RICCH\u00ee', '104')] : []),
  ];
}

/** Returns accesses with missing or implausible coordinates. These accesses have an address, but no point. */
function unlocated(comune: SyntheticComune): Partial<Access>[] {
  const parts = (civico: string, x: string, y: string, metodo = '4'): Partial<Access> => ({ civico, shown: civico, x, y, metodo });
  return [
    parts('201', '', '', ''),
    parts('202', '0', '0'),
    parts('203', '41,9', '14,2'),
    parts('204', '467512,3', '4638210,77'),
    parts('205', '14,2', ''),
    parts('206', '', '41,9'),
    parts('207', '', ''),
    parts('208', '2,35', '48,85'),
    ...(comune.index === 0 ? [parts('209', '-8,5', '41,9')] : []),
  ];
}
