/** Creates the documents of the catalogue of exports, in DCAT-AP_IT (as Turtle and JSON-LD) and in STAC. */
import type { RegisteredSource } from '../../contract/registry.ts';
import { dcatResources, type CatalogFacts, type HighValueSource } from './dcat.ts';
import { jsonLd, turtle } from './rdf.ts';
import { stacDocuments } from './stac.ts';

/** A document of the catalogue, with its media type and text. */
export interface CatalogDocument {
  readonly type: string;
  readonly text: string;
}

/** Returns all documents of the catalogue, by path relative to the catalogue. */
export function catalogDocuments(facts: CatalogFacts): ReadonlyMap<string, CatalogDocument> {
  const resources = dcatResources(facts);
  const stac = [...stacDocuments(facts.exports, facts.files)].map(([path, value]): [string, CatalogDocument] => [`stac/${path}`, {
    type: value['type'] === 'Feature' ? 'application/geo+json; charset=utf-8' : 'application/json; charset=utf-8', text: `${JSON.stringify(value, null, 2)}\n`,
  }]);
  return new Map([
    ['dcat.ttl', { type: 'text/turtle; charset=utf-8', text: turtle(resources) }],
    ['dcat.jsonld', { type: 'application/ld+json; charset=utf-8', text: jsonLd(resources) }],
    ...stac,
  ]);
}

/** Returns the sources that the annex of Regulation (EU) 2023/138 lists. */
export function highValueSources(sources: readonly RegisteredSource[]): readonly HighValueSource[] {
  return sources.flatMap(({ manifest: { title, attribution, highValue } }) => (highValue === undefined ? [] : [{
    title, holder: attribution.holder, url: attribution.url, attribution: attribution.text, ...highValue,
  }]));
}
