/** Returns the names of the schemas in which releases are loaded and regions are built. */
import { schemasLike } from './ddl.ts';
import type { Session } from './types.ts';

const STAGING = 'staging_';

/** Returns the workspaces of releases that interrupted or running runs have created. */
export function leftStaging(session: Session): Promise<string[]> {
  return schemasLike(session, STAGING);
}

export function stagingSchema(releaseId: number): string {
  return `${STAGING}${releaseId}`;
}

/** Returns the schema with the complete layers of a release that refers to rows of earlier releases. */
export function wholeSchema(releaseId: number): string {
  return `${stagingSchema(releaseId)}_whole`;
}

/** @param region the region code, or 0 for Italy */
export function buildSchema(region: number): string {
  return `build_${region}`;
}

/** Returns the schema in which a parallel job builds its table. */
export function laneSchema(region: number, lane: number): string {
  return `${buildSchema(region)}_lane_${lane}`;
}

/** Returns the additional schemas of a region's build that interrupted or running runs have created. */
export function leftLanes(session: Session, region: number): Promise<string[]> {
  return schemasLike(session, `${buildSchema(region)}_`);
}

/** Returns the schema for tables of a region on other nodes before they are published. */
export function shardSchema(region: number): string {
  return `${buildSchema(region)}_shards`;
}

/** Returns the schema in which an incremental build creates changed rows, next to the region's workspace. */
export function changesSchema(region: number): string {
  return `${buildSchema(region)}_changes`;
}
