/** Creates the metadata of a CSV file: types and descriptions of the columns, and licences. Format: W3C, Metadata Vocabulary for Tabular Data. */
import type { Licence, OutputColumn } from './columns.ts';

/** Names of data types in CSV on the Web, by column type. */
const DATATYPES: Readonly<Record<OutputColumn['type'], string>> = { int2: 'short', int4: 'int', int8: 'long', float8: 'double', text: 'string', bool: 'boolean' };

interface TableFacts {
  /** Name of the CSV file, without folder. */
  readonly url: string;
  readonly title: string;
  readonly delimiter: string;
  readonly columns: readonly OutputColumn[];
  readonly licences: readonly Licence[];
  /** Time of the publication; null if the values may come from publications of several regions. */
  readonly publishedAt: string | null;
}

/** Returns the path of the metadata file of a CSV. */
export function metadataPath(path: string): string {
  return `${path}-metadata.json`;
}

/** Returns the text of the metadata file of a CSV. */
export function csvMetadata({ url, title, delimiter, columns, licences, publishedAt }: TableFacts): string {
  return `${JSON.stringify({
    '@context': ['http://www.w3.org/ns/csvw', { '@language': 'en' }],
    url,
    'dc:title': title,
    ...(publishedAt === null ? {} : { 'dc:issued': publishedAt }),
    'dc:license': licences.map(({ section, source, holder, license, url: text, reference_period, attribution }) => ({
      'dc:title': license, 'dc:source': source, 'dc:creator': holder, 'dc:identifier': text, 'dc:temporal': reference_period, 'dc:rights': attribution, 'dc:subject': section,
    })),
    dialect: { delimiter, encoding: 'utf-8', header: true, quoteChar: '"', doubleQuote: true, lineTerminators: ['\n'] },
    tableSchema: {
      columns: columns.map(({ name, type, description }) => ({ name: encodeURIComponent(name), titles: name, datatype: DATATYPES[type], 'dc:description': description, required: false })),
    },
  }, null, 2)}\n`;
}
