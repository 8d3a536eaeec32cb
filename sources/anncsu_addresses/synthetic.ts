/** Writes STRAD and INDIR of the synthetic region in the publisher's format, with its quirks. Also computes the expected section `address` of each parcel. */
import { join } from 'node:path';
import { accessesOf, streetsOf, type Access, type PlacedAccesses } from '../../pipelines/synthetic/access-points.ts';
import { itemAt } from '../../pipelines/synthetic/items.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { SyntheticComune, SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { INDIR_COLUMNS, STRAD_COLUMNS } from './schema.ts';

const DATE = '20260602';
/** Code of a comune that does not exist. */
const UNKNOWN_COMUNE = 'A000';

// --- files ---------------------------------------------------------------------------------------------------------

function accessLine({ street, ...access }: Access, key = access.key): string {
  return [
    street.comune.belfiore, street.comune.istatCode, street.key, '', street.odonimo, street.localita, street.lingua1, '', key, access.codice, access.civico,
    access.esponente, access.specificita, access.metrico, access.snc, access.x, access.y, access.quota, access.metodo,
  ].join(';');
}

/** Returns lines that must be rejected or counted as duplicates. The invalid lines follow the valid lines of the first comune. */
function refused(good: Access): (string | Uint8Array)[] {
  const line = accessLine(good);
  const at = (column: string, value: string): string => line.split(';').map((field, index) => (INDIR_COLUMNS[index] === column ? value : field)).join(';');
  return [
    `${line}\n`, // repeats another line
    `${line.slice(0, line.lastIndexOf(';'))}\n`, // the last field is missing
    `${at('CIVICO', '12A')}\n`,
    `${at('METODO', '9')}\n`,
    `${at('COORD_X_COMUNE', '14.25')}\n`, // decimal point
    `${at('CODICE_COMUNE', UNKNOWN_COMUNE).replace(`;${good.key};`, `;${good.key + 50_000};`).replace(`;${good.street.key};`, ';9999999;')}\n`,
    Buffer.concat([Buffer.from(at('PROGRESSIVO_ACCESSO', String(good.key + 50_001)).replace('VIA ROMA', 'VIA CAFF')), Buffer.from([0xe8, 0x0a])]),
  ];
}

function* indirLines(region: SyntheticRegion): Generator<string | Uint8Array> {
  yield `${INDIR_COLUMNS.join(';')}\n`;
  for (const comune of region.comuni) {
    const accesses = [...accessesOf(region, comune).accesses].sort((a, b) => a.street.key - b.street.key || a.key - b.key);
    for (const access of accesses) yield `${accessLine(access)}\n`;
    if (comune.index === 0) yield* refused(itemAt(accesses, 0));
  }
}

function* stradLines(region: SyntheticRegion): Generator<string> {
  yield `${STRAD_COLUMNS.join(';')}\n`;
  for (const comune of region.comuni) {
    const counts = new Map<number, number>();
    for (const { street } of accessesOf(region, comune).accesses) counts.set(street.key, (counts.get(street.key) ?? 0) + 1);
    for (const street of streetsOf(comune)) {
      // One of the streets is only in INDIR.
      if (comune.index === 1 && street.odonimo === 'VIALE ROMA') continue;
      yield `${[comune.belfiore, comune.istatCode, street.key, '', street.odonimo, street.localita, counts.get(street.key) ?? 0, street.lingua1, '', ''].join(';')}\n`;
    }
  }
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const area = region.name.slice(0, 4).toUpperCase();
    for (const [long, kind, lines] of [['indirizzario', 'INDIR', indirLines(region)], ['stradario', 'STRAD', stradLines(region)]] as const) {
      await writeZip(join(folder, `${long}${region.name}${DATE}.zip`), [[`${kind}_${area}_${DATE}.csv`, lines]]);
    }
  },

  truth(region) {
    let current: { comune: SyntheticComune; owned: PlacedAccesses['owned'] } | null = null;
    return (parcel) => {
      if (current?.comune !== parcel.comune) current = { comune: parcel.comune, owned: accessesOf(region, parcel.comune).owned };
      return { address: (current.owned.get(parcel.index) ?? []).map((access) => answer(region, access)) };
    };
  },
};
export default synthetic;

/** Returns an access as the section `address` returns it. */
function answer(region: SyntheticRegion, { key, street, shown, point }: Access): Record<string, unknown> {
  const { comune } = street;
  return {
    address_id: key,
    street_name: street.name,
    street_number: shown,
    locality: street.locality,
    municipality_code: comune.belfiore,
    municipality_name: comune.italianName,
    province: comune.province.name,
    region: region.name,
    latitude: point?.[1],
    longitude: point?.[0],
    formatted_address: [...new Set([`${street.name} ${shown}`, street.locality === '' ? comune.italianName : street.locality, comune.province.name])].join(', '),
  };
}
