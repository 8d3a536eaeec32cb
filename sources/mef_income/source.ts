import { normaliseHeader } from '../../pipelines/kit/csv.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/kit/source.ts';
import { manifest } from './manifest.ts';
import { read } from './read.ts';
import { tables } from './schema.ts';

/** The table by comune has 2.3 MB; a smaller one is an extract. */
const NATIONAL_BYTES = 1_500_000;

function recogniseCsv(head: Buffer, size: number, at: string): Recognition | null {
  const lines = head.toString('latin1').split(/\r?\n/, 2);
  const header = lines[0]!.replace(/^\u00ef\u00bb\u00bf/, '').split(';').map(normaliseHeader);
  if (header[0] !== 'anno_di_imposta' || !header.includes('numero_contribuenti')) return null;
  if (!header.includes('codice_catastale')) {
    throw inputError('MEF table is not by comune', {
      code: 'COLUMNS_CHANGED', at: `${at}:1`, detail: 'expected a column Codice catastale, found none', hint: 'Use the tables "su base comunale" and "su base subcomunale".',
    });
  }
  const year = /^(20\d{2});/.exec(lines[1] ?? '')?.[1];
  if (year === undefined) {
    throw inputError('MEF table has no tax year', {
      code: 'VINTAGE_MISSING', at: `${at}:2`, detail: `expected a year in the first cell, found ${JSON.stringify((lines[1] ?? '').slice(0, 40))}`, hint: 'Download the file again.',
    });
  }
  const role = header.includes('cap') ? 'subcomunale' : 'comunale';
  // A release is complete when one of its files says so; the subcomunale table alone never is.
  return { role, vintage: year, region: null, complete: role === 'comunale' && size >= NATIONAL_BYTES };
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries === null) return recogniseCsv(probe.head, probe.size, probe.name);
  const csv = probe.entries.filter((entry) => /\.csv$/i.test(entry.path));
  if (csv.length === 0 || csv.length > 2) return null;
  return recogniseCsv(await probe.headOf(csv[0]!.path), csv[0]!.size, `${probe.name}!${csv[0]!.path}`);
}

export default defineSource({ manifest, tables, recognise, read });
