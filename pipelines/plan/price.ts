/** Estimates the time, disk space and memory that a refresh needs, from earlier runs on this database. */
import { MappaleError } from '../errors.ts';
import type { Experience } from '../ledger/experience.ts';
import { PARCEL_LAYERS } from '../contract/sql-files.ts';
import { staleOf, type Plan } from './plan.ts';

/**
 * Default rates for a database without measurements. `bytesPerSecond` counts compressed bytes. `layerPerByte` is the number of layer bytes for each byte of a
 * file. The values were measured with a synthetic region of 200,000 parcels on two cores with PostgreSQL.
 */
const ASSUMED = {
  bytesPerSecond: 2_000_000, secondsPerRelease: 0.15, layerPerByte: 12, secondsPerRegion: 2.5, secondsPerParcel: 200e-6, bytesPerParcel: 1500,
} as const;
/** Factor for times on the embedded database, which is slower. */
const EMBEDDED = 1.5;
/** Memory that this process needs in bytes, for readers, buffers and the largest geometry. Does not include the memory of the database server. */
const MEMORY_BYTES = 400 * 1024 * 1024;
/** Safety factor for disk space, because a full disk causes more damage than a refused run. */
const SPARE = 1.2;

export interface Price {
  readonly seconds: number;
  readonly diskBytes: number;
  readonly memoryBytes: number;
  /** Free bytes on the database's disk; null if the disk is unknown, such as the disk of a database on another machine. */
  readonly freeBytes: number | null;
  /** Share of the estimated seconds that comes from measurements on this database, 0–1. */
  readonly measured: number;
}

/**
 * Returns the estimated cost of a plan. The number of parcels is the larger of two numbers: the published parcels of the stale regions, and an estimate from
 * the size of the parcel files to read.
 */
export function price({ loads, builds }: Plan, { bySource, all, perParcel: each, parcels: published, embedded, freeBytes }: Experience): Price {
  const slower = embedded ? EMBEDDED : 1;
  const reading = loads.map(({ located: { source, files } }) => {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const known = bySource.get(source.id);
    return {
      bytes, isParcels: source.layer.writes.some((layer) => PARCEL_LAYERS.includes(layer)), isMeasured: known !== undefined,
      seconds: known !== undefined ? bytes / known.bytesPerSecond : slower * (ASSUMED.secondsPerRelease + bytes / ASSUMED.bytesPerSecond),
      diskBytes: bytes * ((known ?? all)?.layerPerByte ?? ASSUMED.layerPerByte),
    };
  });
  const stale = builds.filter(({ products }) => staleOf(products).length > 0).map(({ region }) => region);
  // A parcel needs about 200 bytes in the publisher's nested zips.
  const coming = reading.reduce((sum, { bytes, isParcels }) => sum + (isParcels ? bytes / 200 : 0), 0);
  const parcels = Math.max(stale.reduce((sum, region) => sum + (published.get(region) ?? 0), 0), coming);
  const regions = stale.filter((region) => region > 0).length;
  const building = {
    isMeasured: each !== null,
    seconds: each !== null ? parcels * each.seconds : slower * (regions * ASSUMED.secondsPerRegion + parcels * ASSUMED.secondsPerParcel),
    diskBytes: parcels * (each?.bytes ?? ASSUMED.bytesPerParcel),
  };
  const steps = [...reading, building];
  const seconds = steps.reduce((sum, step) => sum + step.seconds, 0);
  const measured = steps.reduce((sum, step) => sum + (step.isMeasured ? step.seconds : 0), 0);
  const diskBytes = steps.reduce((sum, step) => sum + step.diskBytes, 0);
  return { seconds, diskBytes, memoryBytes: MEMORY_BYTES, freeBytes, measured: seconds === 0 ? 1 : measured / seconds };
}

/** Refuses a plan without sufficient disk space. @throws MappaleError `NO_ROOM` (exit 2) if the disk would fill up, unless forced */
export function refuseWithoutRoom(cost: Price, { embedded, parcels }: Pick<Experience, 'embedded' | 'parcels'>, { force }: { readonly force: boolean }): void {
  if (force || cost.freeBytes === null || cost.diskBytes * SPARE <= cost.freeBytes) return;
  throw new MappaleError('there is not enough disk space for this load', {
    code: 'NO_ROOM', kind: 'usage', detail: `expected ${gib(cost.diskBytes * SPARE)} free (the estimate plus a fifth), found ${gib(cost.freeBytes)}`,
    hint: 'Free disk space, use another disk, or run again with --force.', fix: embedded && parcels.size === 0 ? 'export DATABASE_URL=pglite:/OTHER_DISK/mappale' : 'npx mappale prune',
  });
}

export function gib(bytes: number): string {
  return bytes < 100 * 1024 ** 2 ? `${Math.ceil(bytes / 1024 ** 2)} MiB` : `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}
