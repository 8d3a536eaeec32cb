/** Which releases and published tables a SQL file sees in its workspace. */
import type { Session } from '../db/index.ts';
import { schemasLike, type RankedFile } from '../db/catalog.ts';
import type { RegisteredSource } from '../registry.ts';
import { schemaOf, tableOf, type Relation, type SqlFile } from '../sql-files.ts';
import type { Release } from './ledger.ts';

const STAGING = 'staging_';

/** Workspaces of releases: those of an interrupted run, or of one that works now. */
export function leftStaging(session: Session): Promise<string[]> {
  return schemasLike(session, STAGING);
}

export function stagingSchema(releaseId: number): string {
  return `${STAGING}${releaseId}`;
}

/** @param unit region code, or 0 for Italy */
export function buildSchema(unit: number): string {
  return `build_${unit}`;
}

/** Where a build makes what it carries over, beside the unit's workspace. */
export function carrySchema(unit: number): string {
  return `${buildSchema(unit)}_carry`;
}

/**
 * The releases that a region's tables are made from.
 * `newest`: one per source: complete ones before parts, then the newest vintage, the regional before the national. Of two releases of one vintage and region
 * the one whose files were seen last counts: a file that is put back is in force again.
 * `all`: the last seen of each vintage and region.
 * A release that holds nothing of the layer (one of two files that are published together) leaves it to the one before.
 * @param unit region code, or 0 for Italy (releases of every region)
 */
export function inUse(releases: readonly Release[], source: RegisteredSource, unit: number, layer: Relation): Release[] {
  const mine = releases.filter((release) => release.sourceId === source.id && release.state === 'loaded'
    && (unit === 0 || release.region === null || release.region === unit));
  const lastOfEach = new Map<string, Release>();
  for (const release of [...mine].sort((a, b) => a.lastSeen - b.lastSeen || a.releaseId - b.releaseId)) lastOfEach.set(`${release.vintage} ${release.region ?? ''}`, release);
  const filled = [...lastOfEach.values()].filter(({ layers }) => layers === null || (layers[tableOf(layer)] ?? 0) > 0);
  const candidates = filled.length > 0 ? filled : [...lastOfEach.values()];
  if (source.manifest.keep === 'all') return candidates.sort((a, b) => a.releaseId - b.releaseId);
  return candidates.sort(preference).slice(0, 1);
}

interface Preferable {
  readonly complete: boolean;
  readonly vintage: string;
  readonly region: number | null;
}

/** Order in which releases of one source are preferred for a region. */
export function preference(a: Preferable, b: Preferable): number {
  return Number(b.complete) - Number(a.complete)
    || (a.vintage < b.vintage ? 1 : a.vintage > b.vintage ? -1 : 0)
    || Number(b.region !== null) - Number(a.region !== null);
}

/** The files of these releases, newest first within each source and kind. */
export async function rankFiles(session: Session, used: readonly Release[]): Promise<RankedFile[]> {
  const files = await session.query<{ fileId: number; releaseId: number; role: string }>(
    'select file_id as "fileId", release_id as "releaseId", role from ledger.file where release_id = any ($1) order by file_id desc', [used.map(({ releaseId }) => releaseId)],
  );
  const releases = new Map(used.map((release) => [release.releaseId, release]));
  const next = new Map<string, number>();
  return files.map((file) => ({ ...file, release: releases.get(file.releaseId)! })).sort((a, b) => preference(a.release, b.release)).map(({ fileId, role, release }) => {
    const kind = `${release.sourceId} ${role}`;
    const rank = (next.get(kind) ?? 0) + 1;
    next.set(kind, rank);
    return { fileId, rank };
  });
}

/** The source whose layer.sql makes this layer; undefined when its folder is not here. */
export function sourceOfLayer(sources: readonly RegisteredSource[], relation: Relation): RegisteredSource | undefined {
  return sources.find((source) => source.layer.writes.includes(relation));
}

/** Layers that a file reads. */
export function layersOf(file: SqlFile): Relation[] {
  return file.reads.filter((relation) => schemaOf(relation) === 'layer');
}
