/** Stores facts about downloaded files in hidden sidecar files, which the search for input files ignores. */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { MappaleError } from '../errors.ts';
import { writeAtomically } from '../formats/atomic-write.ts';
import { retyped, withOption } from '../typed.ts';

/** Fields that identify the version of a file on the server. */
const version = {
  etag: z.string().nullable(),
  last_modified: z.string().nullable(),
  /** Size of the whole file; null if unknown. */
  bytes: z.int().nullable(),
};

/** Schema of the facts about a completely downloaded file. */
const KEPT = z.object({
  ...version,
  bytes: z.int(),
  /** Requested address, without secrets. */
  url: z.string(),
  /** Final address after redirects. */
  final_url: z.string(),
  sha256: z.string(),
  source: z.string(),
  license: z.string(),
  role: z.string(),
  vintage: z.string(),
  fetched_at: z.string(),
  /** Modification time of the local file, which shows whether the file was changed later. */
  modified_ms: z.number(),
  headers: z.record(z.string(), z.string()),
});

/** Schema of the facts about a partial file. */
const PART = z.object({ ...version, url: z.string() });

/** Schema of the times when all files of a source were last requested, by region slug. */
const ASKED = z.record(z.string(), z.iso.datetime());

export type Version = Readonly<Pick<z.infer<typeof PART>, keyof typeof version>>;
export type Kept = Readonly<z.infer<typeof KEPT>>;
export type Part = Readonly<z.infer<typeof PART>>;

export function sidecarOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.json`);
}

/** Returns the path of a partial file. The path ends with the file's final name, because some sources recognise files by name. */
export function partOf(path: string): string {
  return join(dirname(path), '.partial', basename(path));
}

/** Reads the facts about a downloaded file. @returns null if the file is missing or was changed later, or if the sidecar is missing or malformed */
export async function readKept(path: string): Promise<Kept | null> {
  const [kept, info] = [await readJson(sidecarOf(path), KEPT), await stat(path).catch(() => null)];
  return kept !== null && info?.isFile() === true && info.size === kept.bytes && Math.floor(info.mtimeMs) === kept.modified_ms ? kept : null;
}

export function readPart(path: string): Promise<Part | null> {
  return readJson(sidecarOf(partOf(path)), PART);
}

/** Deletes a partial file and its sidecar. @param part path of the partial file, from `partOf` */
export async function removePart(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(sidecarOf(part), { force: true });
}

function askedFile(folder: string): string {
  return join(folder, '.asked.json');
}

/**
 * Returns the time when all files of a region were last requested.
 * @param folder download folder of a source
 * @returns null if no such time is recorded or if the record cannot be read. The next request then reports the folder, because the record cannot be written
 */
export async function readAsked(folder: string, region: string): Promise<Date | null> {
  const at = (await readJson(askedFile(folder), ASKED).catch(() => null))?.[region];
  return at === undefined ? null : new Date(at);
}

export async function writeAsked(folder: string, region: string, at: Date): Promise<void> {
  await writeJson(askedFile(folder), { ...(await readJson(askedFile(folder), ASKED)), [region]: at.toISOString() });
}

/** Reads a JSON file. Returns null if the file is missing or malformed. */
async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  try {
    return schema.safeParse(JSON.parse(await readFile(path, 'utf8'))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeAtomically(path, (unfinished) => writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`)).catch((error: unknown) => {
    throw error instanceof MappaleError ? error.knowing({ fix: retyped(withOption('--data', '/OTHER_DISK/data'), 'npx mappale fetch REGION --data /OTHER_DISK/data') }) : error;
  });
}
