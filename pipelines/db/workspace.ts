/** Names of the schemas in which releases are loaded and regions are built. */
import { schemasLike } from './ddl.ts';
import type { Session } from './types.ts';

const STAGING = 'staging_';

/** Returns the workspaces of releases, from interrupted or running runs. */
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

/** Returns the schema in which one of several parallel jobs builds its table. */
export function laneSchema(unit: number, lane: number): string {
  return `${buildSchema(unit)}_lane_${lane}`;
}

/** Returns the additional schemas of a unit's build, from interrupted or running runs. */
export function leftLanes(session: Session, unit: number): Promise<string[]> {
  return schemasLike(session, `${buildSchema(unit)}_`);
}

/** Returns the schema for tables of a unit on other nodes before they are published. */
export function shardSchema(unit: number): string {
  return `${buildSchema(unit)}_shards`;
}

/** Returns the schema in which an incremental build creates changed rows, next to the unit's workspace. */
export function changesSchema(unit: number): string {
  return `${buildSchema(unit)}_changes`;
}
