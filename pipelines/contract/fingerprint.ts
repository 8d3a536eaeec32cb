/**
 * Computes fingerprints of results. A fingerprint is the digest of the facts that determine a result. The facts include digests of files, fingerprints of input
 * tables, digests of SQL without comments and layout, the versions of readers and SQL files, and the versions of the database engine. The facts are also
 * stored, so that the program can report why a result is stale.
 */
import { calledFunctions, effectiveDigest, factName, sha256, type SqlFile } from './sql-files.ts';

/** Values of facts by name. Examples: `GEOS` has the value `3.11`, the `factName` of a file has the file's digest, and `version of …` has the value `3`. */
export type Facts = Readonly<Record<string, string>>;

/** Names of the facts about the database engine. Results of older program versions lack these facts. */
export const ENGINE = ['PostgreSQL', 'PostGIS', 'GEOS', 'PROJ'] as const;

export function digestOfFacts(facts: Facts): string {
  return sha256(JSON.stringify(Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Returns the facts of SQL files and of the SQL functions that these files call. */
export function sqlFacts(...files: readonly SqlFile[]): Facts {
  return Object.fromEntries(files.flatMap((file): (readonly [string, string])[] => [
    ...(file.version === null ? [] : [[`version of ${factName(file)}`, String(file.version)] as const]),
    ...[file, ...calledFunctions(file)].map((each) => [factName(each), effectiveDigest(each)] as const),
  ]));
}

/** Inputs that determine the rows of a source's files. */
interface ReaderInputs {
  readonly id: string;
  readonly manifest: { readonly version: number };
  readonly staging: SqlFile;
  readonly load: SqlFile;
  readonly placesOf: SqlFile | null;
  readonly places?: unknown;
  readonly repeats?: Readonly<Record<string, string>>;
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  readonly layers: Readonly<Record<string, { readonly areasOf?: string }>>;
}

/**
 * Returns the facts that determine a source's rows, apart from the content of the files. The facts are the manifest's version, the SQL, and the fields of the
 * source that are inserted into SQL.
 */
export function readerFacts({ id, manifest, staging, load, placesOf, places, layers, repeats, keys }: ReaderInputs): Facts {
  const areas = Object.entries(layers).flatMap(([layer, { areasOf }]) => (areasOf === undefined ? [] : [[layer, areasOf]]));
  return {
    [`version of ${id}`]: String(manifest.version),
    ...sqlFacts(staging, load, ...(placesOf === null ? [] : [placesOf])),
    ...(places === undefined ? {} : { [`places of ${id}`]: sha256(JSON.stringify(places)) }),
    ...(repeats === undefined ? {} : { [`repeats of ${id}`]: sha256(JSON.stringify([repeats, keys])) }),
    ...(areas.length === 0 ? {} : { [`areas of ${id}`]: sha256(JSON.stringify(areas)) }),
  };
}

/** Returns the reason why a result must be built again, or null if no fact changed. @param before null if no facts were recorded */
export function whyChanged(before: Facts | null, now: Facts): string | null {
  if (before === null || ENGINE.some((name) => name in now && !(name in before))) return UNNOTED;
  const reasons: string[] = [];
  const alike = new Map<string, { readonly verb: string; readonly names: string[] }>();
  for (const name of new Set([...Object.keys(now), ...Object.keys(before)])) {
    const [was, is] = [before[name], now[name]];
    if (was === is) continue;
    if (was !== undefined && is !== undefined && [was, is].every((value) => /^[0-9.]+$/.test(value))) {
      reasons.push(`${name} ${was} → ${is}`);
      continue;
    }
    const verb = was === undefined ? 'new' : is === undefined ? 'gone' : 'changed';
    const key = `${verb} ${name.replace(/ .*/s, '')}`;
    alike.set(key, { verb, names: [...(alike.get(key)?.names ?? []), name] });
  }
  for (const { verb, names } of alike.values()) {
    const many = names.length > SHOWN;
    const phrase = verb === 'changed' ? verb : `${many ? 'are' : 'is'} ${verb}`;
    reasons.push(...(many ? [[names[0], '…', names.at(-1), `(${names.length})`, phrase].join(' ')] : names.map((name) => `${name} ${phrase}`)));
  }
  return reasons.length === 0 ? null : reasons.join('; ');
}

/** Maximum number of facts of one kind that a reason lists in full. */
const SHOWN = 3;

const UNNOTED = 'an earlier version of the program recorded no inputs';
