/**
 * Reads the evidence for a source's file format: real bytes of the publisher, a verbatim header, and documents. The section `## Evidence` of
 * `sources/<id>/notes.md` lists the evidence.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../config.ts';
import { inputError, type MappaleError } from '../errors.ts';

/** Evidence for a file format, with one text for each kind of evidence; null if there is no such evidence. Each text contains a year or "undated". */
export interface Evidence {
  readonly bytes: string | null;
  readonly header: string | null;
  readonly document: string | null;
}

const HEADING = /^## Evidence$/m;
const LABELS = ['Real bytes', 'Verbatim header', 'Document'] as const;
/** Matches a year, or the word "undated". */
const DATED = /(?<!\d)(?:19|20)\d{2}(?!\d)|\bundated\b/;

/** Reads the evidence for a source. @throws the errors of `readEvidence` */
export function evidenceOf(id: string): Evidence {
  return readEvidence(readFileSync(join(ROOT, 'sources', id, 'notes.md'), 'utf8'), `sources/${id}/notes.md`);
}

/**
 * Reads the evidence from the text of notes.
 * @param notes text of `notes.md`
 * @param at name of the file in messages
 * @throws input error `EVIDENCE_MALFORMED` unless the notes have exactly one section `## Evidence` with exactly three items. Each item must be `none`, or a
 * text with a year or "undated".
 */
export function readEvidence(notes: string, at: string): Evidence {
  const [, section, ...more] = notes.split(HEADING);
  if (section === undefined || more.length > 0) throw malformed(at, `expected one section "## Evidence", found ${section === undefined ? 'none' : more.length + 1}`);
  const body = section.split(/^## /m, 1)[0]?.trim() ?? '';
  const items = body.split(/\n(?=- )/).map((item) => item.replace(/\n {2}(?=\S)/g, ' '));
  const [bytes, header, document] = LABELS.map((label, index) => valueOf(items[index] ?? '', label, at));
  if (items.length !== LABELS.length) throw malformed(at, `expected ${LABELS.length} items of evidence, found ${items.length}`);
  return { bytes: bytes ?? null, header: header ?? null, document: document ?? null };
}

function valueOf(item: string, label: string, at: string): string | null {
  const start = `- ${label}: `;
  const value = item.slice(start.length);
  if (!item.startsWith(start) || item.includes('\n') || value.trim() === '') throw malformed(at, `expected an item "${start}…", found ${JSON.stringify(item.slice(0, 60))}`);
  if (value === 'none') return null;
  if (!DATED.test(value)) throw malformed(at, `expected a year or "undated" in "${label}", found ${JSON.stringify(value)}`);
  return value;
}

function malformed(at: string, detail: string): MappaleError {
  return inputError('the notes of a source lack the evidence for its format', {
    code: 'EVIDENCE_MALFORMED', at, detail, hint: 'Install the program again, or report it.',
  });
}

/** Returns the evidence on one line, as `mappale sources` prints it. */
export function evidenceLine({ bytes, header, document }: Evidence): string {
  return [bytes, header, document].map((value, index) => `${LABELS[index]?.toLowerCase() ?? ''}: ${value ?? 'none'}`).join('; ');
}
