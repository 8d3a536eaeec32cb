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
  return `${lanesOf(unit)}${lane}`;
}

/** The lanes of a unit: those of an interrupted run, or of one that works now. */
export function leftLanes(session: Session, unit: number): Promise<string[]> {
  return schemasLike(session, lanesOf(unit));
}

function lanesOf(unit: number): string {
  return `${buildSchema(unit)}_lane_`;
}

/** Where an incremental build makes what changed, beside the unit's workspace. */
export function changesSchema(unit: number): string {
  return `${buildSchema(unit)}_changes`;
}
