/** Names of the schemas in which releases are read and regions are built. */
import { schemasLike } from './catalog.ts';
import type { Session } from './types.ts';

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

/** Where one of several tables that are made side by side is made, with what it makes on the way. */
export function laneSchema(unit: number, lane: number): string {
  return `${buildSchema(unit)}_lane_${lane}`;
}

/** What lies beside the workspace of a unit: of an interrupted run, or of one that works now. */
export function leftLanes(session: Session, unit: number): Promise<string[]> {
  return schemasLike(session, `${buildSchema(unit)}_`);
}

/** What of a unit lies on other nodes before it is published. */
export function shardSchema(unit: number): string {
  return `${buildSchema(unit)}_shards`;
}

/** Where an incremental build makes what changed, beside the unit's workspace. */
export function changesSchema(unit: number): string {
  return `${buildSchema(unit)}_changes`;
}
