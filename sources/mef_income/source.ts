import { expectColumns, normaliseHeader, peekRows, resembles } from '../../pipelines/kit/csv.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/kit/source.ts';
import { manifest } from './manifest.ts';
import { read } from './read.ts';
import { COLUMNS, EDITIONS, OPTIONAL, tables } from './schema.ts';

/** The table by comune has 2.3 MB; a smaller one is an extract. */
const NATIONAL_BYTES = 1_500_000;

function recogniseCsv(head: Buffer, size: number, at: string): Recognition | null {
  const [header = [], first = []] = peekRows(head, ';', 2);
  if (!resembles(header, EDITIONS.comunale)) return null;
  // The name, where it says one, decides: without its column the table by postal code looks like the one by comune.
  const role = header.map(normaliseHeader).includes('cap') || /_subcomunale(?![a-z])/i.test(at) ? 'subcomunale' : 'comunale';
  const year = /^20\d{2}$/.exec(first[0]?.trim() ?? '')?.[0];
  if (year === undefined) {
    expectColumns(header, { mapped: COLUMNS, optional: OPTIONAL, ignored: manifest.ignored, editions: EDITIONS[role], at: `${at}:1` });
    throw inputError('MEF table has no tax year', {
      code: 'VINTAGE_MISSING', at: `${at}:2`, detail: `expected a year in the first cell, found ${JSON.stringify(first.join(';').slice(0, 40))}`, hint: 'Download the file again.',
    });
  }
  // A release is complete when one of its files says so; the subcomunale table alone never is.
  return { role, vintage: year, region: null, complete: role === 'comunale' && size >= NATIONAL_BYTES };
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries === null) return recogniseCsv(probe.head, probe.size, probe.name);
  const csv = probe.entries.filter((entry) => /\.csv$/i.test(entry.path));
  if (csv.length === 0 || csv.length > 2) return null;
  return recogniseCsv(await probe.headOf(csv[0]!.path), csv[0]!.size, `${probe.name}!${csv[0]!.path}`);
}

export default defineSource({
  manifest,
  names: [/^Redditi_e_principali_variabili_IRPEF[^/]*\.(?:zip|csv)$/i],
  tables,
  keys: { raw_income: ['tax_year', 'level', 'belfiore', 'cap'] },
  recognise,
  read,
});
