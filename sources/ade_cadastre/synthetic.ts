/**
 * The cadastral map of the synthetic region: `MOLISE.zip` › `CB.zip` › `Z001_CASTEL DELL`INVENTATO.zip` › `_map.gml` and `_ple.gml`, in the dialect
 * of the publisher's MapServer. The map is written as a stream, with at most one feature in memory.
 *
 * The quirks are features in addition to the region's parcels and sheets. A quirk either repeats a published geometry or has a new geometry west of the
 * region, outside the zones of all other sources.
 */
import { join } from 'node:path';
import { itemAt } from '../../pipelines/synthetic/items.ts';
import { firstLand } from '../../pipelines/synthetic/make-region.ts';
import { boxOf, boxPolygon, boxRing, polygonsAreaM2, type Box, type MultiPolygon } from '../../pipelines/synthetic/plane-geometry.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { SyntheticComune, SyntheticProvince, SyntheticRegion, SyntheticSheet } from '../../pipelines/synthetic/region.ts';
import { writeZip, zipStream, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';

/** Date of the release: the date of the zips' entries and of the collections' timeStamp. */
const RELEASE = '2026-07-01';
const DATED = { modified: RELEASE };
const SRS = 'urn:ogc:def:crs:EPSG::6706';
/** Pseudo-comune that the publisher uses for a sliver of land. */
const PSEUDO = 'A000';

/** Content of the files in addition to the region's parcels and sheets. Tests compare results with this content. */
export interface Quirks {
  /** Number of members that must be rejected, by reject code. */
  readonly rejects: Readonly<Record<'xml_malformed' | 'geometry_empty' | 'reference_conflict' | 'comune_unknown', number>>;
  /** Number of repeated members: a parcel with the same bytes as an earlier parcel, and the sheets of a map that is in the zip twice. */
  readonly duplicates: number;
  /** Reference of an accepted parcel outside the region. The ring of this parcel crosses itself and is repaired. */
  readonly repaired: string;
  /** Reference of the member with the pseudo-comune A000. This member is rejected as `comune_unknown` when the release is loaded. */
  readonly pseudoComune: string;
}

export function quirks(region: SyntheticRegion): Quirks {
  return {
    rejects: { xml_malformed: 1, geometry_empty: 1, reference_conflict: 1, comune_unknown: 1 },
    duplicates: 1 + sheetCount(region, strayComune(region)),
    repaired: `${sheetOf(region.comuni[0])}.9003`,
    pseudoComune: `${PSEUDO}W000200.STRADA001`,
  };
}

/** Comune whose map is in the province's zip twice. */
const strayComune = (region: SyntheticRegion): SyntheticComune => itemAt(region.comuni, region.comuni.length - 1);
const sheetOf = (comune: SyntheticComune): string => `${comune.belfiore}_000100`;

function sheetCount(region: SyntheticRegion, comune: SyntheticComune): number {
  let count = 0;
  for (const _ of region.sheets(comune)) count += 1;
  return count;
}

/** Converts a name to the publisher's spelling: capitals, spaces in place of hyphens, and backticks in place of apostrophes and accents. */
export function cadastralName(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '`').replaceAll("'", '`').replaceAll('-', ' ').toUpperCase();
}

const lat8 = (degrees: number): string => degrees.toFixed(8);

function envelope(polygons: MultiPolygon, indent: string): string {
  const [west, south, east, north] = boxOf(polygons);
  return `${indent}<gml:boundedBy>\n${indent}\t<gml:Envelope srsName="${SRS}">\n`
    + `${indent}\t\t<gml:lowerCorner>${south.toFixed(6)} ${west.toFixed(6)}</gml:lowerCorner>\n`
    + `${indent}\t\t<gml:upperCorner>${north.toFixed(6)} ${east.toFixed(6)}</gml:upperCorner>\n`
    + `${indent}\t</gml:Envelope>\n${indent}</gml:boundedBy>\n`;
}

function ringText(ring: readonly (readonly [number, number])[], indent: string): string {
  let text = `${indent}<gml:LinearRing>\n${indent}  <gml:posList srsDimension="2">`;
  for (const [lon, lat] of ring) text += `${lat8(lat)} ${lat8(lon)} `;
  return `${text}</gml:posList>\n${indent}</gml:LinearRing>\n`;
}

function polygonText(polygon: MultiPolygon[number], attributes: string, indent: string): string {
  let text = `${indent}<gml:Polygon ${attributes}>\n`;
  polygon.forEach((ring, index) => {
    const side = index === 0 ? 'exterior' : 'interior';
    text += `${indent}  <gml:${side}>\n${ringText(ring, `${indent}    `)}${indent}  </gml:${side}>\n`;
  });
  return `${text}${indent}</gml:Polygon>\n`;
}

/**
 * Returns the GML of a geometry. A single polygon without holes is written as a polygon. Every other geometry is a MultiSurface, whose polygons have
 * no srsName.
 */
function geometryText(id: string, polygons: MultiPolygon): string {
  const indent = '          ';
  let text = '        <CP:msGeometry>\n';
  const [first, ...others] = polygons;
  if (first?.length === 1 && others.length === 0) {
    text += polygonText(first, `gml:id="${id}.1" srsName="${SRS}"`, indent);
  } else {
    text += `${indent}<gml:MultiSurface gml:id="${id}.1" srsName="${SRS}">\n`;
    polygons.forEach((polygon, index) => {
      text += `${indent}  <gml:surfaceMember>\n${polygonText(polygon, `gml:id="${id}.1.${index + 1}"`, `${indent}    `)}${indent}  </gml:surfaceMember>\n`;
    });
    text += `${indent}</gml:MultiSurface>\n`;
  }
  return `${text}        </CP:msGeometry>\n`;
}

/** @param label text of the label in the file; in one quirk, the label is not well-formed */
function parcelMember(reference: string, label: string, belfiore: string, polygons: MultiPolygon): string {
  const id = `CadastralParcel.IT.AGE.PLA.${reference}`;
  return `    <wfs:member>\n      <CP:CadastralParcel gml:id="${id}">\n${envelope(polygons, '        ')}${geometryText(id, polygons)}`
    + `        <CP:INSPIREID_LOCALID>IT.AGE.PLA.${reference}</CP:INSPIREID_LOCALID>\n`
    + '        <CP:INSPIREID_NAMESPACE>IT.AGE.PLA.</CP:INSPIREID_NAMESPACE>\n'
    + `        <CP:LABEL>${label}</CP:LABEL>\n`
    + `        <CP:NATIONALCADASTRALREFERENCE>${reference}</CP:NATIONALCADASTRALREFERENCE>\n`
    + `        <CP:ADMINISTRATIVEUNIT>${belfiore}</CP:ADMINISTRATIVEUNIT>\n`
    + '      </CP:CadastralParcel>\n    </wfs:member>\n';
}

function sheetMember(region: SyntheticRegion, sheet: SyntheticSheet): string {
  const id = `CadastralZoning.IT.AGE.MAP.${sheet.reference}`;
  const random = region.random('cadastre', sheet.reference);
  const since = random.next() < 0.7 ? `${String(1 + random.below(28)).padStart(2, '0')}/${String(1 + random.below(12)).padStart(2, '0')}/${1998 + random.below(28)}` : '';
  const scale = random.pick(['1000', '2000', '2000', '4000', '']);
  const polygons = [[sheet.outline()]];
  return `    <wfs:member>\n      <CP:CadastralZoning gml:id="${id}">\n${envelope(polygons, '        ')}${geometryText(id, polygons)}`
    + `        <CP:INSPIREID_LOCALID>IT.AGE.MAP.${sheet.reference}</CP:INSPIREID_LOCALID>\n`
    + '        <CP:INSPIREID_NAMESPACE>IT.AGE.MAP</CP:INSPIREID_NAMESPACE>\n'
    + `        <CP:LABEL>${Number(sheet.sheet)}${sheet.attachment === '0' ? '' : sheet.attachment}</CP:LABEL>\n`
    + `        <CP:NATIONALCADASTRALZONINGREFERENCE>${sheet.reference}</CP:NATIONALCADASTRALZONINGREFERENCE>\n`
    + `        <CP:BEGINLIFESPANVERSION>${since}</CP:BEGINLIFESPANVERSION>\n`
    + '        <CP:ENDLIFESPANVERSION></CP:ENDLIFESPANVERSION>\n        <CP:LEVEL>3rdOrder</CP:LEVEL>\n'
    + '        <CP:LEVELNAME>Mappa Catastale</CP:LEVELNAME>\n        <CP:LEVELNAME_LOCALE>it</CP:LEVELNAME_LOCALE>\n'
    + `        <CP:ORIGINALMAPSCALEDENOMINATOR>${scale}</CP:ORIGINALMAPSCALEDENOMINATOR>\n`
    + `        <CP:ADMINISTRATIVEUNIT>${sheet.comune.belfiore}</CP:ADMINISTRATIVEUNIT>\n`
    + '      </CP:CadastralZoning>\n    </wfs:member>\n';
}

function* collection(feature: 'CadastralParcel' | 'CadastralZoning', count: number, polygons: MultiPolygon, members: Iterable<string>): Generator<string> {
  const describe = 'https://wfs.cartografia.agenziaentrate.gov.it/inspire/wfs/owfs01.php?SERVICE=WFS&amp;VERSION=2.0.0&amp;REQUEST=DescribeFeatureType'
    + `&amp;TYPENAME=CP:${feature}&amp;OUTPUTFORMAT=application%2Fgml%2Bxml%3B%20version%3D3.2`;
  yield '<?xml version=\'1.0\' encoding="UTF-8" ?>\n<wfs:FeatureCollection\n   xmlns:CP="http://mapserver.gis.umn.edu/mapserver"\n'
    + '   xmlns:gml="http://www.opengis.net/gml/3.2"\n   xmlns:wfs="http://www.opengis.net/wfs/2.0"\n   xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"\n'
    + `   xsi:schemaLocation="http://mapserver.gis.umn.edu/mapserver ${describe} http://www.opengis.net/wfs/2.0 http://schemas.opengis.net/wfs/2.0/wfs.xsd `
    + 'http://www.opengis.net/gml/3.2 http://schemas.opengis.net/gml/3.2.1/gml.xsd"\n'
    + `   timeStamp="${RELEASE}T00:00:00" numberMatched="${count}" numberReturned="${count}">\n${envelope(polygons, '      ')}`;
  yield* members;
  yield '</wfs:FeatureCollection>\n\n';
}

/** Returns a box west of the region, with sides of about 40 m. Each number gives a box at a different position. */
function outside(region: SyntheticRegion, number: number): Box {
  const west = region.box[0] - 0.01;
  const south = region.box[3] - 0.001 * number;
  const round = (degrees: number): number => Math.round(degrees * 1e8) / 1e8;
  return [round(west), round(south), round(west + 0.0005), round(south + 0.0004)];
}

/** Returns the additional parcel members with quirks, which are written after the parcels of the first comune. */
function quirkyMembers(region: SyntheticRegion): string[] {
  const [comune] = region.comuni;
  const land = firstLand(region, comune, 2);
  const [repeated, contradicted] = [itemAt(land, 0), itemAt(land, land.length - 1)];
  const sheet = sheetOf(comune);
  const [a, b, c, d] = boxRing(outside(region, 3));
  return [
    parcelMember(repeated.reference, repeated.label, comune.belfiore, repeated.polygons),
    parcelMember(contradicted.reference, contradicted.label, comune.belfiore, [boxPolygon(outside(region, 1))]),
    parcelMember(`${sheet}.9001`, '9001 & 9002', comune.belfiore, [boxPolygon(outside(region, 2))]),
    // The two northern corners are swapped, so the ring crosses itself.
    parcelMember(`${sheet}.9003`, '9003', comune.belfiore, [[[a, b, d, c, a]]]),
    parcelMember(`${sheet}.9004`, '9004', comune.belfiore, [[[a, b, a]]]),
  ];
}

const stem = (comune: SyntheticComune): string => `${comune.belfiore}_${cadastralName(comune.italianName)}`;

function map(region: SyntheticRegion, comune: SyntheticComune): ZipEntry {
  function* members(): Generator<string> {
    for (const sheet of region.sheets(comune)) yield sheetMember(region, sheet);
  }
  return [`${stem(comune)}_map.gml`, collection('CadastralZoning', sheetCount(region, comune), [boxPolygon(comune.box)], members()), DATED];
}

function parcels(region: SyntheticRegion, comune: SyntheticComune): ZipEntry {
  const extra = comune.index === 0 ? quirkyMembers(region) : [];
  function* members(): Generator<string> {
    for (const parcel of region.parcels(comune)) yield parcelMember(parcel.reference, parcel.label, comune.belfiore, parcel.polygons);
    yield* extra;
  }
  return [`${stem(comune)}_ple.gml`, collection('CadastralParcel', comune.parcelCount + extra.length, [boxPolygon(comune.box)], members()), DATED];
}

/** Yields the entries of a province's zip. */
function* comuneZips(region: SyntheticRegion, province: SyntheticProvince): Generator<ZipEntry> {
  const comuni = region.comuni.filter((comune) => comune.province.code === province.code);
  for (const comune of comuni) yield [`${stem(comune)}.zip`, zipStream([map(region, comune), parcels(region, comune)]), DATED];
  const stray = strayComune(region);
  if (comuni.includes(stray)) yield map(region, stray);
  if (comuni.some(({ index }) => index === 0)) {
    const polygons = [boxPolygon(outside(region, 5))];
    const sliver = parcelMember(`${PSEUDO}W000200.STRADA001`, 'STRADA001', PSEUDO, polygons);
    yield [`${PSEUDO}_MARE.zip`, zipStream([[`${PSEUDO}_MARE_ple.gml`, collection('CadastralParcel', 1, polygons, [sliver]), DATED]]), DATED];
  }
}

/** Returns whether the region has its own land registers, so that the publisher has no map of the region. */
function hasLandRegisters({ comuniCatastali }: SyntheticRegion): boolean {
  return comuniCatastali.length > 0;
}

const synthetic: Synthetic = {
  async write(region, folder) {
    if (hasLandRegisters(region)) return;
    await writeZip(join(folder, 'MOLISE.zip'), (function* (): Generator<ZipEntry> {
      for (const province of region.provinces) yield [`${province.sigla}.zip`, zipStream(comuneZips(region, province)), DATED];
    })());
  },

  truth(region) {
    if (hasLandRegisters(region)) return () => ({});
    return ({ comune, sheet, label, reference, kind, polygons }) => ({
      basic: {
        gml_id: `CadastralParcel.IT.AGE.PLA.${reference}`,
        label,
        cadastral_reference: reference,
        kind,
        /** Corners as published, without rounding. */
        polygons,
        /** Area in square metres, EPSG:3035, not rounded. */
        area_m2: polygonsAreaM2(polygons),
        cadastral: { sheet: sheet.sheet, section: sheet.section, attachment: sheet.attachment, development: sheet.development, comune_code: comune.belfiore },
      },
    });
  },
};
export default synthetic;
