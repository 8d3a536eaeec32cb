/** Checks options that select the format of the output. */
import { MappaleError } from '../pipelines/errors.ts';
import { nearest, retyped, withOption } from '../pipelines/typed.ts';

/** @param formats by name; the first is the default @param command command without `--format`, for the fix @throws MappaleError `FORMAT_UNKNOWN` (exit 2) */
export function formatNamed<F>(name: string, formats: Readonly<Record<string, F>>, command: string): F {
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format !== undefined) return format;
  const names = Object.keys(formats);
  const [usual = ''] = names;
  const [meant = usual] = nearest(name, names);
  throw new MappaleError('there is no such format', {
    code: 'FORMAT_UNKNOWN', kind: 'usage', detail: `expected ${names.join(', ')}, found ${name}`, hint: `Omit --format for ${usual}.`,
    fix: retyped(withOption('--format', meant), `${command} --format ${meant}`),
  });
}

/** `--json` together with an option for a different format of the same output. */
export interface FormatChoice {
  readonly json: boolean | undefined;
  /** The other option as typed, such as `--format csv`; null: not given. */
  readonly other: string | null;
  /** How to get both, or which option to omit. */
  readonly hint: string;
  /** Corrected command. */
  readonly fix: string;
}

/** Refuses `--json` together with an option for a different format. @throws MappaleError `FORMATS_SEVERAL` (exit 2) */
export function oneFormat({ json, other, hint, fix }: FormatChoice): void {
  if (json !== true || other === null) return;
  throw new MappaleError('the output can have only one format', {
    code: 'FORMATS_SEVERAL', kind: 'usage', detail: `expected --json or ${other}, found both`, hint, fix,
  });
}
