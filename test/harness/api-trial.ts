/** Checks statements about the API on a served region. Sends requests, compares responses with the API document, and reads the content of the region. */
import { expect } from 'vitest';
import { buildServer } from '../../api/server.ts';
import { SILENT } from '../../pipelines/log.ts';
import { BASE, violationsOf, VERSION, type Answered, type regionService } from '../api/harness.ts';

export type Json = Record<string, unknown>;
type Service = Awaited<ReturnType<typeof regionService>>;

/** Number of records that `Trial.records` requests in parallel. */
const AT_A_TIME = 3;

/** Gives access to the region that the server serves, and to its content. */
export class Trial {
  readonly service: Service;
  #key: Promise<string> = Promise.resolve('');
  #left = 0;
  #records: Promise<readonly Json[]> | null = null;

  constructor(service: Service) {
    this.service = service;
  }

  /** Returns a token that has every scope and has not reached its hourly limit. */
  key(): Promise<string> {
    if (this.#left === 0) {
      this.#left = 900;
      this.#key = this.service.token();
    }
    this.#left -= 1;
    return this.#key;
  }

  /** Sends a request with a valid token, and checks the response against the API document. */
  async ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    const answered = await this.service.ask(path, { key: await this.key(), headers });
    expect(violationsOf(path, answered), path).toEqual([]);
    return answered;
  }

  /** Returns the body of a response with status 200. */
  async get(path: string): Promise<Json> {
    const { status, text, body } = await this.ask(path);
    expect(status, `${path}: ${text.slice(0, 300)} ${status < 500 ? '' : this.service.warned.at(-1) ?? ''}`).toBe(200);
    return body as Json;
  }

  /** Returns `data` of a response with status 200. */
  async list(path: string): Promise<Json[]> {
    return (await this.get(path))['data'] as Json[];
  }

  /** Returns `[status, error, parameter]` of a refusal, and checks that its message names the parameter and the allowed values. */
  async refusal(path: string): Promise<unknown[]> {
    const { status, body } = await this.ask(path);
    const details = (body?.['details'] ?? {}) as Json;
    if (details['parameter'] !== undefined) {
      expect(body!['message'], path).toContain(details['parameter']);
      expect(details['allowed'], path).toMatch(/\S{2}/);
    }
    return [status, body?.['error'], details['parameter']];
  }

  /** Returns the complete records of all parcels, in order of fid. Each record is requested only once. */
  records(): Promise<readonly Json[]> {
    this.#records ??= (async () => {
      const rows = await this.service.database.query<{ fid: number }>('select fid from core.parcel order by fid');
      const records = new Map<number, Json>();
      const queue = rows.map(({ fid }) => fid);
      await Promise.all(Array.from({ length: AT_A_TIME }, async () => {
        for (let fid = queue.shift(); fid !== undefined; fid = queue.shift()) records.set(fid, await this.get(`/parcels/${fid}`));
      }));
      return rows.map(({ fid }) => records.get(fid)!);
    })();
    return this.#records;
  }

  async basics(): Promise<Basic[]> {
    return (await this.records()).map(({ basic }) => basic as Basic);
  }

  /** Returns the access points of all parcels. */
  async addresses(): Promise<Json[]> {
    return (await this.records()).flatMap(({ address }) => address as Json[]);
  }

  /** Returns the basic section of a land parcel. */
  async parcel(): Promise<Basic> {
    return (await this.basics()).find(({ kind }) => kind === 'land')!;
  }

  /** Returns an access point whose house number has only digits, and which has no locality. */
  async address(): Promise<Json> {
    return (await this.addresses()).find(({ street_number: number, locality }) => /^\d+$/.test(String(number)) && locality === '')!;
  }
}

export interface Basic extends Json {
  readonly fid: number;
  readonly kind: string;
  readonly label: string;
  readonly cadastral_reference: string;
  readonly area_m2: number;
  readonly centroid: { readonly lat: number; readonly lng: number };
  readonly geometry: { readonly type: string; readonly coordinates: readonly unknown[] };
  readonly municipality: { readonly code: string; readonly name: string };
  readonly cadastral: { readonly sheet: string; readonly section: string | null; readonly postal_code: string | null };
}

export interface Statement {
  /** Part of the API that the statement describes. */
  readonly about: string;
  readonly says: string;
  readonly holds: (trial: Trial) => Promise<void>;
}

export const fids = (found: readonly Json[]): number[] => found.map(({ fid }) => fid as number);
export const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
export const query = (parameters: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]))).toString();
export const metaOf = (body: Json): Json => body['meta'] as Json;

/** Returns the distinct corners of a geometry as text, `lng,lat`. */
export function cornersOf({ geometry }: Basic): string[] {
  const rings = (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates) as readonly (readonly (readonly (readonly [number, number])[])[])[];
  return [...new Set(rings.flat(2).map((corner) => corner.join(',')))];
}

/** Returns the edges of a geometry as text, each as a pair of corners `lng,lat`. */
export function edgesOf({ geometry }: Basic): (readonly [from: string, to: string])[] {
  const polygons = (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates) as readonly (readonly (readonly (readonly [number, number])[])[])[];
  return polygons.flat().flatMap((ring) => ring.slice(1).map((corner, index) => [ring[index]!.join(','), corner.join(',')] as const));
}

/** Returns the length in metres of a short edge between two points `lng,lat`, with the radii of curvature of WGS 84. */
export function edgeMetres(from: string, to: string): number {
  const [[west = 0, south = 0], [east = 0, north = 0]] = [from, to].map((corner) => corner.split(',').map(Number)) as [number[], number[]];
  const [radius, eccentricity2, latitude] = [6_378_137, 0.006_694_379_990_14, (south * Math.PI) / 180];
  const root = Math.sqrt(1 - eccentricity2 * Math.sin(latitude) ** 2);
  const meridian = (radius * (1 - eccentricity2)) / root ** 3;
  return Math.hypot((((north - south) * Math.PI) / 180) * meridian, (((east - west) * Math.PI) / 180) * (radius / root) * Math.cos(latitude));
}

/** Returns the corners that several parcels share, as `lng,lat`, with the fids of the parcels. */
export function meetings(basics: readonly Basic[]): [string, number[]][] {
  const meeting = new Map<string, number[]>();
  for (const basic of basics) for (const corner of cornersOf(basic)) meeting.set(corner, [...(meeting.get(corner) ?? []), basic.fid]);
  return [...meeting].filter(([, owners]) => owners.length > 1);
}

/** Returns at most the given number of evenly spaced elements. */
export function some<T>(all: readonly T[], most: number): T[] {
  const step = Math.max(1, Math.ceil(all.length / most));
  return all.filter((_, index) => index % step === 0);
}

/**
 * Returns the area in m² of a ring in degrees, on a sphere. The result is accurate enough to detect the enlargement by a map projection, which is a factor of
 * 1.8 at the latitude of the test region.
 */
export function roughArea(ring: readonly (readonly [number, number])[]): number {
  const metres = 6_371_000 * Math.PI / 180;
  const [west, south] = ring[0]!;
  const plane = ring.map(([lng, lat]) => [(lng - west) * metres * Math.cos(south * Math.PI / 180), (lat - south) * metres] as const);
  return Math.abs(plane.slice(1).reduce((sum, [x, y], index) => sum + (plane[index]![0] * y - x * plane[index]![1]) / 2, 0));
}

/** Returns the responses of a server that accepts every key and whose database calls run `call`. */
export async function answersWith(call: () => Promise<never>, paths: readonly string[]): Promise<Answered[]> {
  const admitted = { outcome: 'ADMITTED', token_id: 1, quota: 1000, remaining: 999, resets_at: 4_000_000_000, retry_after_seconds: null };
  const app = await buildServer({
    reader: { engine: 'postgres', restricted: true, parallel: 4, call, count: async <T>() => admitted as T, close: async () => undefined } as never,
    version: VERSION, log: SILENT,
  });
  try {
    return await Promise.all(paths.map(async (path) => {
      const { statusCode, headers, payload } = await app.inject({ method: 'GET', url: BASE + path, headers: { 'x-api-key': `mpl_${'a'.repeat(43)}` } });
      return { status: statusCode, text: payload, body: JSON.parse(payload) as Json, headers: headers as Record<string, string> };
    }));
  } finally {
    await app.close();
  }
}
