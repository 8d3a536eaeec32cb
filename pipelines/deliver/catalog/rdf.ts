/** Serializes an RDF graph of named resources as Turtle or as JSON-LD. Both documents contain the same statements. */

/** IRIs of namespaces, by prefix. */
const PREFIXES = {
  dcat: 'http://www.w3.org/ns/dcat#', dcatap: 'http://data.europa.eu/r5r/', dcatapit: 'http://dati.gov.it/onto/dcatapit#',
  dct: 'http://purl.org/dc/terms/', foaf: 'http://xmlns.com/foaf/0.1/', gsp: 'http://www.opengis.net/ont/geosparql#', rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  spdx: 'http://spdx.org/rdf/terms#', xsd: 'http://www.w3.org/2001/XMLSchema#',
} as const;

export type Value =
  | { readonly iri: string }
  | { readonly text: string; readonly language?: 'en' | 'it'; readonly type?: `xsd:${string}` | 'gsp:wktLiteral' };

/** A resource with an IRI. Properties have prefixed names. */
export interface Resource {
  readonly iri: string;
  readonly types: readonly string[];
  readonly properties: Readonly<Record<string, readonly Value[]>>;
}

/** Returns an IRI in angle brackets, and percent-encodes the characters that Turtle does not allow in an IRI. */
function iri(text: string): string {
  return `<${text.replace(/[\u0000-\u0020<>"{}|^`\\]/g, (each) => encodeURIComponent(each))}>`;
}

/** Returns a value in the syntax of Turtle. Strings use JSON escapes, which are valid in Turtle. */
function turtleValue(value: Value): string {
  if ('iri' in value) return iri(value.iri);
  return JSON.stringify(value.text) + (value.type === undefined ? value.language === undefined ? '' : `@${value.language}` : `^^${value.type}`);
}

export function turtle(resources: readonly Resource[]): string {
  const prefixes = Object.entries(PREFIXES).map(([name, namespace]) => `@prefix ${name}: <${namespace}> .`);
  const blocks = resources.map(({ iri: subject, types, properties }) => {
    const lines = Object.entries(properties).flatMap(([name, values]) => (values.length === 0 ? [] : [`${name} ${values.map(turtleValue).join(', ')}`]));
    return `${iri(subject)} ${[`a ${types.join(', ')}`, ...lines].join(' ;\n  ')} .`;
  });
  return `${prefixes.join('\n')}\n\n${blocks.join('\n\n')}\n`;
}

function jsonValue(value: Value): unknown {
  if ('iri' in value) return { '@id': iri(value.iri).slice(1, -1) };
  const { text, language, type } = value;
  return { '@value': text, ...(type === undefined ? language === undefined ? {} : { '@language': language } : { '@type': type }) };
}

export function jsonLd(resources: readonly Resource[]): string {
  return `${JSON.stringify({
    '@context': PREFIXES,
    '@graph': resources.map(({ iri: subject, types, properties }) => ({
      '@id': iri(subject).slice(1, -1), '@type': types,
      ...Object.fromEntries(Object.entries(properties).flatMap(([name, values]) => (values.length === 0 ? [] : [[name, values.map(jsonValue)]]))),
    })),
  }, null, 2)}\n`;
}
