/** Which releases and published tables a SQL file sees in its workspace. */
import type { Session } from '../db/index.ts';
import { schemasLike } from '../db/catalog.ts';
import type { RegisteredSource } from '../registry.ts';
import type { Relation } from '../sql-files.ts';

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

/** The source whose layer.sql makes this layer; undefined when its folder is not here. */
export function sourceOfLayer(sources: readonly RegisteredSource[], relation: Relation): RegisteredSource | undefined {
  return sources.find((source) => source.layer.writes.includes(relation));
}
