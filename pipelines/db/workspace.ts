/** Names the schemas in which releases are loaded, regions are built and values are explained, and drops the schemas of a release. */
import { randomBytes } from 'node:crypto';
import { dropSchema, schemasLike } from './ddl.ts';
import type { Session } from './types.ts';

const STAGING = 'staging_';

/** Returns the schemas in which interrupted or current runs load releases. */
export function leftStaging(session: Session): Promise<string[]> {
  return schemasLike(session, STAGING);
}

export function stagingSchema(releaseId: number): string {
  return `${STAGING}${releaseId}`;
}

/** Returns the name of the schema with views of complete layers, for a release that reuses rows of earlier releases. */
export function wholeSchema(releaseId: number): string {
  return `${stagingSchema(releaseId)}_whole`;
}

/** Drops the workspace of a release that was not loaded. */
export async function dropStaging(session: Session, releaseId: number): Promise<void> {
  for (const schema of [wholeSchema(releaseId), stagingSchema(releaseId)]) await dropSchema(session, schema);
}

/** Returns the name of a region's workspace. @param region region code, or 0 for Italy */
export function buildSchema(region: number): string {
  return `build_${region}`;
}

/** Returns the existing workspaces of some regions. A workspace belongs to an interrupted run, a refused build or a current run. */
export async function leftBuilds(session: Session, regions: readonly number[]): Promise<string[]> {
  const there = new Set(await schemasLike(session, 'build_'));
  return regions.map(buildSchema).filter((schema) => there.has(schema));
}

/** Returns the name of the schema in which a parallel job builds a table. @param lane number of the job */
export function laneSchema(region: number, lane: number): string {
  return `${buildSchema(region)}_lane_${lane}`;
}

/**
 * Returns the existing schemas of a region's builds other than the workspace itself: the schemas of parallel jobs, changed rows, distributed tables and copied
 * tables. These schemas belong to interrupted or current runs.
 */
export function leftLanes(session: Session, region: number): Promise<string[]> {
  return schemasLike(session, `${buildSchema(region)}_`);
}

/** Returns the name of the schema for a region's distributed tables before their publication. */
export function shardSchema(region: number): string {
  return `${buildSchema(region)}_shards`;
}

/** Returns the name of the schema in which an incremental build of a region creates changed rows. */
export function changesSchema(region: number): string {
  return `${buildSchema(region)}_changes`;
}

const EXPLANATION = 'explain_';

/** Returns the name of a new schema for an explanation. Explanations that run at the same time have different schemas. */
export function explanationSchema(): string {
  return `${EXPLANATION}${randomBytes(8).toString('hex')}`;
}

/** Returns whether a schema belongs to an explanation, which needs only the rows of a few parcels. */
export function isExplanation(schema: string): boolean {
  return schema.startsWith(EXPLANATION);
}
