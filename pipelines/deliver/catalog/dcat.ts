/**
 * Describes exports and the API in DCAT-AP_IT. Datasets that contain high-value data as defined in Regulation (EU) 2023/138 also have the properties of DCAT-AP
 * HVD.
 */
import { newestOf, type ExportedFile, type Item } from './exports.ts';
import type { Resource, Value } from './rdf.ts';

/** A source whose dataset the annex of Regulation (EU) 2023/138 lists. */
export interface HighValueSource {
  readonly title: string;
  readonly holder: string;
  readonly url: string;
  readonly attribution: string;
  readonly category: keyof typeof CATEGORIES;
  /** Entry of the annex that lists the dataset. */
  readonly entry: string;
}

export interface CatalogFacts {
  /** URL of the catalogue. The URL of each resource is this URL with a fragment. */
  readonly base: string;
  /** URL of the folder with the exports, with a trailing slash. */
  readonly files: string;
  /** URL of the API, such as https://maps.example.org/api/v2. Null if the catalogue describes no API. */
  readonly api: string | null;
  readonly publisher: Publisher;
  readonly exports: readonly ExportedFile[];
  readonly highValue: readonly HighValueSource[];
  /** Day on which the catalogue is written. Used as the modification date if there are no exports. */
  readonly today: string;
}

/** Public body that the catalogue names as its publisher. */
export interface Publisher {
  /** Code of the body in IPA, the Italian index of public administrations, or a different identifier. */
  readonly id: string;
  readonly name: string;
}

/** IRIs of the categories of high-value datasets. */
const CATEGORIES = { geospatial: 'http://data.europa.eu/bna/c_ac64a52d', environment: 'http://data.europa.eu/bna/c_dd313021' } as const;
const REGULATION = 'http://data.europa.eu/eli/reg_impl/2023/138/oj';
const AUTHORITY = 'http://publications.europa.eu/resource/authority';
/** Codes of the EU authority table of file types, by file ending. All other formats have the code for binary data. */
const FILE_TYPES: Readonly<Record<string, string>> = { parquet: 'PARQUET', gpkg: 'GPKG', csv: 'CSV' };

const en = (text: string): Value => ({ text, language: 'en' });
const plain = (text: string): Value => ({ text });
const to = (iri: string): Value => ({ iri });
const day = (text: string): Value => ({ text: text.slice(0, 10), type: 'xsd:date' });

/** Returns all resources of the catalogue. The first resource is the catalogue itself. */
export function dcatResources(facts: CatalogFacts): readonly Resource[] {
  const { base, api, publisher, exports, today } = facts;
  const at = (name: string): string => `${base}#${encodeURIComponent(name)}`;
  const datasets = [...newestOf(exports)].flatMap(([name, files]) => datasetResources(facts, name, files, at));
  const service = api === null ? [] : apiResources(facts, api, at);
  const all = [...datasets, ...service];
  const listed = (type: string): readonly Value[] => all.filter(({ types }) => types.includes(type)).map(({ iri }) => to(iri));
  const legislation = all.some(({ properties }) => properties['dcatap:applicableLegislation'] !== undefined) ? [to(REGULATION)] : [];
  const catalog: Resource = {
    iri: at('catalog'), types: ['dcat:Catalog', 'dcatapit:Catalog'],
    properties: {
      'dct:title': [en('mappale: cadastral parcels with official data')],
      'dct:description': [en('Exports of cadastral parcels and of the official data of each parcel, by region, and the API that serves them')],
      'dct:publisher': [to(at(publisher.id))],
      'dct:modified': [day(exports[0]?.item.properties.datetime ?? today)],
      'dct:language': [to(`${AUTHORITY}/language/ENG`)],
      'dcat:themeTaxonomy': [to(`${AUTHORITY}/data-theme`)],
      'dcatap:applicableLegislation': legislation,
      'dcat:dataset': listed('dcat:Dataset'), 'dcat:service': listed('dcat:DataService'),
    },
  };
  const holders = exports.flatMap(({ item }) => producersOf(item));
  return [catalog, ...all, ...agents(publisher, [...new Set(holders)], at)];
}

function agents(publisher: Publisher, holders: readonly string[], at: (name: string) => string): readonly Resource[] {
  const agent = (id: string, name: string): Resource => ({
    iri: at(id), types: ['foaf:Agent', 'dcatapit:Agent'], properties: { 'foaf:name': [plain(name)], 'dct:identifier': [plain(id)] },
  });
  return [agent(publisher.id, publisher.name), ...holders.map((name) => agent(idOf(name), name))];
}

/** Returns the names of the bodies whose data an export contains. */
function producersOf({ properties: { providers } }: Item): string[] {
  return providers.filter(({ roles }) => roles.includes('producer')).map(({ name }) => name);
}

/** Returns an identifier for a rights holder, derived from the name. */
function idOf(name: string): string {
  return name.normalize('NFD').replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '').toLowerCase();
}

/** Returns the resources of one dataset. @param files exports of one publication, in several formats */
function datasetResources(facts: CatalogFacts, name: string, files: readonly ExportedFile[], at: (name: string) => string): readonly Resource[] {
  const [first] = files;
  if (first === undefined) return [];
  const { title, attribution, datetime } = first.item.properties;
  const listed = facts.highValue.filter((each) => attribution.includes(each.attribution));
  const legislation: Resource['properties'] = listed.length === 0 ? {} : { 'dcatap:applicableLegislation': [to(REGULATION)] };
  const dataset: Resource = {
    iri: at(name), types: ['dcat:Dataset', 'dcatapit:Dataset'],
    properties: {
      'dct:identifier': [plain(name)], 'dct:title': [en(title)],
      'dct:description': [en(`Cadastral parcels of ${title} with the data of public bodies for each parcel. Attributions: ${attribution}`)],
      'dct:modified': [day(datetime)], 'dct:issued': [day(datetime)],
      'dcat:theme': [to(`${AUTHORITY}/data-theme/REGI`), to(`${AUTHORITY}/data-theme/ENVI`)],
      'dct:publisher': [to(at(facts.publisher.id))],
      'dct:rightsHolder': producersOf(first.item).map((name) => to(at(idOf(name)))),
      'dct:accrualPeriodicity': [to(`${AUTHORITY}/frequency/IRREG`)],
      'dct:language': [to(`${AUTHORITY}/language/ITA`)],
      'dct:spatial': [to(at(`${name}-extent`))],
      'dcat:distribution': files.map((each) => to(at(each.name))),
      ...legislation,
      'dcatap:hvdCategory': [...new Set(listed.map(({ category }) => category))].map((category) => to(CATEGORIES[category])),
      'dct:source': [...new Set(listed.map(({ url }) => url))].map(to),
      'dct:provenance': listed.map((each) => to(at(`${name}-${idOf(each.title)}`))),
    },
  };
  const reasons = listed.map((each): Resource => ({
    iri: at(`${name}-${idOf(each.title)}`), types: ['dct:ProvenanceStatement'],
    properties: { 'rdfs:label': [en(`Contains data of ${each.holder}: ${each.title}. Regulation (EU) 2023/138, annex: ${each.entry}`)] },
  }));
  const extent: Resource = {
    iri: at(`${name}-extent`), types: ['dct:Location'],
    properties: { 'dcat:bbox': [{ text: boxText(first.item.bbox), type: 'gsp:wktLiteral' }] },
  };
  return [dataset, extent, ...reasons, ...files.flatMap((file) => distributionResources(facts, file, legislation, at))];
}

/** Returns a bounding box as WKT. @param bbox west, south, east, north in degrees */
function boxText([west = 0, south = 0, east = 0, north = 0]: readonly number[]): string {
  const ring = [[west, south], [east, south], [east, north], [west, north], [west, south]];
  return `POLYGON((${ring.map((corner) => corner.join(' ')).join(', ')}))`;
}

/** Returns the resources of one exported file. @param legislation property of high-value datasets, which the distributions repeat */
function distributionResources(
  { files }: CatalogFacts, { name, item }: ExportedFile, legislation: Resource['properties'], at: (name: string) => string,
): readonly Resource[] {
  const { data } = item.assets;
  const licences = item.links.filter(({ rel }) => rel === 'license');
  const distribution: Resource = {
    iri: at(name), types: ['dcat:Distribution', 'dcatapit:Distribution'],
    properties: {
      'dct:title': [en(`${data.title}: ${name}`)],
      'dct:format': [to(`${AUTHORITY}/file-type/${FILE_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'OCTET'}`)],
      'dcat:accessURL': [to(files + encodeURIComponent(name))], 'dcat:downloadURL': [to(files + encodeURIComponent(name))],
      'dcat:byteSize': [{ text: String(data['file:size']), type: 'xsd:nonNegativeInteger' }],
      'spdx:checksum': [to(at(`${name}-checksum`))],
      'dct:license': [to(at(`${name}-licence`))],
      'dct:modified': [day(item.properties.datetime)],
      ...legislation,
    },
  };
  // The checksum in a STAC item is a multihash: 12 means SHA-256, and 20 is the length, both in hexadecimal.
  const checksum: Resource = {
    iri: at(`${name}-checksum`), types: ['spdx:Checksum'],
    properties: {
      'spdx:algorithm': [to('http://spdx.org/rdf/terms#checksumAlgorithm_sha256')],
      'spdx:checksumValue': [{ text: data['file:checksum'].slice(4), type: 'xsd:hexBinary' }],
    },
  };
  const licence: Resource = {
    iri: at(`${name}-licence`), types: ['dct:LicenseDocument', 'dcatapit:LicenseDocument'],
    properties: {
      'foaf:name': [en(`Each column has the licence of its source: ${[...new Set(licences.map(({ title = '' }) => title))].join(', ')}`)],
      'dct:type': [to('http://purl.org/adms/licencetype/UnknownIPR')],
      'rdfs:seeAlso': licences.map(({ href }) => to(href)),
    },
  };
  return [distribution, checksum, licence];
}

function apiResources({ publisher, exports, today }: CatalogFacts, api: string, at: (name: string) => string): readonly Resource[] {
  const modified = day(exports[0]?.item.properties.datetime ?? today);
  const dataset: Resource = {
    iri: at('parcels'), types: ['dcat:Dataset', 'dcatapit:Dataset'],
    properties: {
      'dct:identifier': [plain('parcels')], 'dct:title': [en('Cadastral parcels of this server')],
      'dct:description': [en('Parcels of the published regions with the data of public bodies for each parcel, as OGC API - Features. Requests need a token')],
      'dct:modified': [modified], 'dcat:theme': [to(`${AUTHORITY}/data-theme/REGI`)],
      'dct:publisher': [to(at(publisher.id))], 'dct:rightsHolder': [to(at(publisher.id))],
      'dct:accrualPeriodicity': [to(`${AUTHORITY}/frequency/IRREG`)],
      'dcat:distribution': [to(at('parcels-features'))],
    },
  };
  const distribution: Resource = {
    iri: at('parcels-features'), types: ['dcat:Distribution', 'dcatapit:Distribution'],
    properties: {
      'dct:title': [en('OGC API - Features')], 'dct:format': [to(`${AUTHORITY}/file-type/GEOJSON`)], 'dcat:accessURL': [to(`${api}/ogc`)],
      'dcat:accessService': [to(at('api'))], 'dct:license': [to(at('parcels-licence'))],
    },
  };
  const licence: Resource = {
    iri: at('parcels-licence'), types: ['dct:LicenseDocument', 'dcatapit:LicenseDocument'],
    properties: { 'foaf:name': [en('Each response lists the licences of its data')], 'dct:type': [to('http://purl.org/adms/licencetype/UnknownIPR')] },
  };
  const service: Resource = {
    iri: at('api'), types: ['dcat:DataService'],
    properties: {
      'dct:title': [en('API of this server')], 'dct:publisher': [to(at(publisher.id))], 'dcat:endpointURL': [to(api)],
      'dcat:endpointDescription': [to(`${api}/openapi.json`)], 'dcat:servesDataset': [to(at('parcels'))],
    },
  };
  return [dataset, distribution, licence, service];
}
