/** From zod's verdict to a reject: one stable code and one line for a person. */
import type { ZodError } from 'zod';

export interface Refusal {
  /** `istat_code_invalid`: the first field that is wrong. */
  readonly code: string;
  /** `istat_code: expected six digits, found "70"`. */
  readonly message: string;
}

/**
 * @param fields what was parsed, by field name
 * @param error its schema's verdict; the schema's own messages say what was expected
 */
export function refusalOf(fields: Readonly<Record<string, unknown>>, error: ZodError): Refusal {
  const issue = error.issues[0];
  const field = String(issue?.path[0] ?? 'record');
  const found = field in fields ? `, found ${shown(fields[field])}` : '';
  return { code: `${field}_invalid`, message: `${field}: ${issue?.message ?? 'not accepted'}${found}` };
}

/** As JSON, which has no word for what is not a number or has no end. */
export function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value) ?? 'nothing';
}
