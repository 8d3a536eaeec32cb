/** What is known of a downloaded file: in a sidecar beside it, which data folders are not searched for. */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { MappaleError } from '../errors.ts';
import { writeAtomically } from '../formats/atomic-write.ts';
import { retyped, withOption } from '../typed.ts';

/** What a server says of the version of a file. */
const version = {
  etag: z.string().nullable(),
  last_modified: z.string().nullable(),
  /** Of the whole file; null: the server does not say. */
  bytes: z.int().nullable(),
};

/** Of a file that came whole. */
const KEPT = z.object({
  ...version,
  bytes: z.int(),
  /** Without secrets. */
  url: z.string(),
  /** Where redirects led. */
  final_url: z.string(),
  sha256: z.string(),
  source: z.string(),
  license: z.string(),
  role: z.string(),
  vintage: z.string(),
  fetched_at: z.string(),
  /** Of the file itself, so that one that was touched is known. */
  modified_ms: z.number(),
  headers: z.record(z.string(), z.string()),
});

/** Of a file of which a part came. */
const PART = z.object({ ...version, url: z.string() });

/** When a source was last asked for all files of a region, by the region's slug. */
const ASKED = z.record(z.string(), z.iso.datetime());

export type Version = Readonly<Pick<z.infer<typeof PART>, keyof typeof version>>;
export type Kept = Readonly<z.infer<typeof KEPT>>;
export type Part = Readonly<z.infer<typeof PART>>;

export function sidecarOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.json`);
}

/** Where a file lies until it is whole. It has its own name already: by it some sources know their files. */
export function partOf(path: string): string {
  return join(dirname(path), '.partial', basename(path));
}

/** @returns null: there is no such file, no sidecar, or one that says something else than the file is */
export async function readKept(path: string): Promise<Kept | null> {
  const [kept, info] = [await readJson(sidecarOf(path), KEPT), await stat(path).catch(() => null)];
  return kept !== null && info?.isFile() === true && info.size === kept.bytes && Math.floor(info.mtimeMs) === kept.modified_ms ? kept : null;
}

export function readPart(path: string): Promise<Part | null> {
  return readJson(sidecarOf(partOf(path)), PART);
}

/** @param part as `partOf` names it */
export async function removePart(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(sidecarOf(part), { force: true });
}

function askedFile(folder: string): string {
  return join(folder, '.asked.json');
}

/** @param folder of a source's downloads @returns null: never */
export async function readAsked(folder: string, region: string): Promise<Date | null> {
  const at = (await readJson(askedFile(folder), ASKED))?.[region];
  return at === undefined ? null : new Date(at);
}

export async function writeAsked(folder: string, region: string, at: Date): Promise<void> {
  await writeJson(askedFile(folder), { ...(await readJson(askedFile(folder), ASKED)), [region]: at.toISOString() });
}

/** What was written by nobody, or by an earlier version in another form, says nothing. */
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
