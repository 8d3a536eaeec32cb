/** Reads and writes golden files, which contain the expected rows of tables of the small synthetic region, and the expected JSON of each section. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SECTION_FOLDER, tableOf, type SqlFile } from '../../pipelines/contract/sql-files.ts';
import { ROOT } from './architecture/project.ts';

/**
 * Returns the path of a table's golden file from the project's root. For a table of a section, the file is in the folder of the section. For any other table,
 * the file is in a common folder.
 */
export function goldenOf({ file, section, writes }: SqlFile): string {
  return section === null ? `test/sections/golden/core-${basename(file, '.sql')}.json` : `${dirname(file)}/golden/${tableOf(writes[0]!)}.json`;
}

/** Returns the path of the golden file with the JSON of a section. */
export function answerGoldenOf(section: string): string {
  return `${SECTION_FOLDER}/${section}/golden/${section}.json`;
}

/**
 * The parts of a golden file. The file of a section's table has a version and rows. The file with the name of a section has the section's JSON. The file of any
 * other table has only rows.
 */
export interface Golden {
  /** Version of the SQL that built the rows. */
  readonly version?: number;
  /** One JSON text for each row. */
  readonly rows?: readonly string[];
  /** JSON text of the section in a complete record. */
  readonly answer?: string;
}

/** Text immediately before the JSON of the section in a golden file. */
const ANSWER = '"answer": ';

/** Returns the parts of a golden file, or an empty object if the file does not exist. */
export function readGolden(path: string): Golden {
  const file = join(ROOT, path);
  if (!existsSync(file)) return {};
  const text = readFileSync(file, 'utf8');
  const { version, rows, answer } = JSON.parse(text) as { version?: number; rows?: unknown[]; answer?: unknown };
  return {
    ...(version === undefined ? {} : { version }),
    ...(rows === undefined ? {} : { rows: /^"rows": \[\n([^]*?)\n?\],?$/m.exec(text)![1]!.split(',\n').filter((row) => row !== '') }),
    ...(answer === undefined ? {} : { answer: text.slice(text.indexOf(`\n${ANSWER}`) + 1 + ANSWER.length, text.lastIndexOf('\n}')) }),
  };
}

/** Returns the content of a golden file. */
export function goldenText({ version, rows, answer }: Golden): string {
  return `{\n${[
    ...(version === undefined ? [] : [`"version": ${version}`]),
    ...(rows === undefined ? [] : [`"rows": [\n${rows.join(',\n')}\n]`]),
    ...(answer === undefined ? [] : [`${ANSWER}${answer}`]),
  ].join(',\n')}\n}\n`;
}
