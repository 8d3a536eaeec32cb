/**
 * Defines the error class of the program. Like PostgreSQL's messages, an error has a primary message, a position, the expected and the found value, and a hint.
 */

import { maskTaxCode } from './mask-tax-code.ts';
import { asInstalled } from './typed.ts';

/** Exit codes of the process by kind of failure. `docs/loading.md` documents the exit codes. */
export const EXIT = {
  done: 0,
  bug: 1,
  usage: 2,
  input: 3,
  rejects: 4,
  checks: 5,
  database: 6,
  locked: 7,
} as const;

export type ExitKind = keyof typeof EXIT;

/** Exit codes by priority. After several failures, the exit code is the first of these codes that occurs. */
const EXIT_ORDER = [EXIT.bug, EXIT.database, EXIT.checks, EXIT.rejects, EXIT.input, EXIT.usage, EXIT.locked] as const;

/** Returns the exit code of a command with several failures; 0 if nothing failed. */
export function firstExitCode(codes: readonly number[]): number {
  return EXIT_ORDER.find((code) => codes.includes(code)) ?? EXIT.done;
}

export interface ErrorFacts {
  /** Stable upper-case code for programs that read errors, such as `ZIP_TRUNCATED`. */
  readonly code: string;
  readonly kind: ExitKind;
  /** Position of the error, such as `file`, `file:line` or `outer.zip!inner.csv:line`, or the setting, address or server that the error is about. */
  readonly at?: string | undefined;
  /** `expected … found …`. */
  readonly detail?: string | undefined;
  /** Full sentences that say what the user must do. */
  readonly hint?: string | undefined;
  /** Command that fixes the error, printed last. Words in capitals are placeholders that the user must replace. */
  readonly fix?: string | undefined;
  /** Content of `detail` as structured data. */
  readonly data?: unknown;
  /** Id of the source whose file has the error. */
  readonly source?: string | undefined;
  /** Slug of the region whose load or publication failed; `italia` for the tables of Italy. */
  readonly region?: string | undefined;
  /** Files that have the error. Set if other files of the release or region can still be used. */
  readonly files?: readonly FaultyFile[] | undefined;
  readonly cause?: unknown;
}

export interface FaultyFile {
  readonly name: string;
  readonly sha256: string;
}

/** An expected failure. All other errors are bugs and keep their stack trace. */
export class MappaleError extends Error {
  readonly code: string;
  readonly kind: ExitKind;
  readonly at: string | undefined;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly fix: string | undefined;
  readonly data: unknown;
  readonly source: string | undefined;
  readonly region: string | undefined;
  readonly files: readonly FaultyFile[];

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'MappaleError';
    this.code = facts.code;
    this.kind = facts.kind;
    this.at = facts.at === undefined ? undefined : maskTaxCode(facts.at);
    this.detail = facts.detail;
    this.hint = facts.hint === undefined ? undefined : asInstalled(facts.hint);
    this.fix = facts.fix === undefined ? undefined : asInstalled(facts.fix);
    this.data = facts.data;
    this.source = facts.source;
    this.region = facts.region;
    this.files = facts.files ?? [];
  }

  get exitCode(): number {
    return EXIT[this.kind];
  }

  /** Returns a copy of this error with additional or replaced facts. */
  knowing(more: Pick<ErrorFacts, 'at' | 'hint' | 'fix' | 'source' | 'region' | 'files'>): MappaleError {
    const { code, kind, at, detail, hint, fix, data, source, region, files } = this;
    return new MappaleError(this.message, {
      code, kind, detail, data, cause: this.cause ?? this, at: more.at ?? at, hint: more.hint ?? hint, fix: more.fix ?? fix,
      source: more.source ?? source, region: more.region ?? region, files: more.files ?? files,
    });
  }

  /** Returns the error as lines for stderr. */
  report(): string {
    return `error: ${this.describe()}`;
  }

  /** Returns the lines of `report` without the word `error`, for a message that has its own prefix. */
  describe(): string {
    const lines = [`${this.message} [${this.code}]`];
    if (this.at !== undefined) lines.push(`  at: ${this.at}`);
    if (this.detail !== undefined) lines.push(`  detail: ${this.detail}`);
    if (this.hint !== undefined) lines.push(`  hint: ${this.hint}`);
    if (this.fix !== undefined) lines.push(`  type: ${this.fix}`);
    return lines.join('\n');
  }

  toJSON(): Record<string, unknown> {
    const { code, message, at, detail, hint, fix, data, source, region } = this;
    return { error: code, message, at, detail, hint, fix, data, source, region };
  }
}

/** Returns the error for an input file that does not match expectations. The process then exits with code 3. */
export function inputError(message: string, facts: Omit<ErrorFacts, 'kind'>): MappaleError {
  return new MappaleError(message, { ...facts, kind: 'input' });
}

/** Returns the first names as text, followed by the number of other names, such as `a, b and 3 more`. @param most maximum number of names in the text */
export function firstNames(names: readonly string[], most = 5): string {
  return `${names.slice(0, most).join(', ')}${names.length > most ? ` and ${names.length - most} more` : ''}`;
}
