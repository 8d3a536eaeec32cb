/** Zod schemas of the responses below /ogc, according to OGC API - Features, Parts 1 to 3. */
import { z } from 'zod';
import { belfiore, COVERAGE_MEANING, coverageWord, geometry, kind, nullable, parcelFacts, whole } from '../pipelines/contract/schemas.ts';
import { SECTIONS } from '../pipelines/contract/sections.ts';
import { licenses } from './answers.ts';
import { CRS84, CRS_URIS } from './crs.ts';

export const FLATGEOBUF_TYPE = 'application/flatgeobuf';
export const GEOJSON_TYPE = 'application/geo+json; charset=utf-8';
export const SCHEMA_TYPE = 'application/schema+json; charset=utf-8';

const link = z.strictObject({
  href: z.string().describe('URL of the target'),
  rel: z.string().describe('Relation of the target to this document, such as self, next, items, collection, data, conformance, service-desc, service-doc or license'),
  type: z.string().optional().describe('Media type of the target'),
  title: z.string().optional().describe('Human-readable title of the link'),
}).meta({ id: 'Link', description: 'Link to another document' });

const links = z.array(link).describe('Links to other documents');

export const landingPage = z.strictObject({
  title: z.string().describe('Title of this API'),
  description: z.string().describe('Description of this API'),
  links,
}).meta({ id: 'LandingPage' });

export const conformance = z.strictObject({
  conformsTo: z.array(z.string()).describe('Conformance classes; docs/ogc-conformance.md lists the test of each'),
}).meta({ id: 'ConformanceClasses' });

export const collection = z.strictObject({
  id: z.string().describe('Name of the collection in paths'),
  title: z.string().describe('Human-readable title of the collection'),
  description: z.string().describe('Description of the collection'),
  links,
  extent: z.strictObject({
    spatial: z.strictObject({
      bbox: z.array(z.array(z.number()).min(4).max(4)).min(1).max(1).describe('West, south, east, north of a box that contains all features'),
      crs: z.literal(CRS84).describe('Longitude, latitude'),
    }).describe('Spatial extent'),
  }).optional().describe('Approximate extent of the features; absent: no region is published'),
  itemType: z.literal('feature').describe('Always'),
  crs: z.array(z.enum(CRS_URIS)).min(CRS_URIS.length).max(CRS_URIS.length).describe('Supported coordinate reference systems; the first is the default'),
  storageCrs: z.literal(CRS84).describe('Coordinate reference system of the stored geometries'),
}).meta({ id: 'Collection', description: 'Collection of features' });

export const collections = z.strictObject({ links, collections: z.array(collection).describe('Parcels first, then each section of the record') }).meta({ id: 'Collections' });

const coverage = coverageWord.describe(`Coverage of the section. Absent if the block of the section contains the coverage. ${COVERAGE_MEANING}`);

export const featureProperties = z.strictObject({
  cadastral_reference: parcelFacts.cadastral_reference,
  region_code: whole.describe('ISTAT code of the region, 1–20'),
  municipality_code: belfiore,
  sheet: nullable(z.string(), 'Foglio without leading zeros; null: the parcel is from a land register, which has no sheets'),
  label: parcelFacts.label,
  kind,
  area_m2: parcelFacts.area_m2,
  ...Object.fromEntries(SECTIONS.filter(({ name }) => name !== 'basic').map(({ name, block }) => [name, block.optional()])),
  coverage: coverage.optional(),
}).describe('Identification of the parcel; in the collection of a section, its block and coverage');

const feature = {
  type: z.literal('Feature').describe('GeoJSON'),
  id: whole.describe('fid of the parcel'),
  geometry,
  properties: featureProperties,
};

export const singleFeature = z.strictObject({ ...feature, links, licenses }).meta({ id: 'Feature', description: 'A parcel as GeoJSON' });

export const featureCollection = z.strictObject({
  type: z.literal('FeatureCollection').describe('GeoJSON'),
  features: z.array(z.strictObject(feature).meta({ id: 'FeatureOfPage' })).describe('A page of features'),
  numberReturned: whole.min(0).describe('Number of features on this page. A page with fewer features than limit, or without features, may have a next page'),
  links: links.describe('Link next is present on all pages but the last'),
  licenses,
}).meta({ id: 'FeatureCollection', description: 'A page of features as GeoJSON' });

export const queryables = z.strictObject({
  $schema: z.literal('https://json-schema.org/draft/2020-12/schema').describe('JSON Schema'),
  $id: z.string().describe('URL of this document'),
  type: z.literal('object').describe('Always'),
  title: z.string().describe('Title of the collection'),
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).describe('Properties that a filter of the items may name, each with its schema'),
  additionalProperties: z.literal(false).describe('Always false: a filter may not name other properties'),
}).meta({ id: 'Queryables', description: 'Properties for filtering items' });
