/**
 * Reads a PMTiles file with the reader that browsers use. The file must have every tile and store equal tiles once, even if one directory cannot list all
 * tiles.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { zxyToTileId, type Header, type PMTiles } from 'pmtiles';
import { describe, expect, it } from 'vitest';
import { PmtilesFile, tileId } from '../../pipelines/formats/pmtiles-writer.ts';
import type { TileNumber } from '../../pipelines/formats/vector-tile.ts';
import { openPmtiles } from '../harness/pmtiles.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const FACTS = { bounds: [14, 41.5, 15, 42] as const, minzoom: 0, maxzoom: 8, metadata: { name: 'test' } };

describe('a file of tiles', () => {
  const folder = temporaryFolder();

  async function written(tiles: readonly (readonly [TileNumber, string])[]): Promise<{ read: PMTiles; header: Header }> {
    const path = join(folder, 'some.pmtiles');
    const file = new PmtilesFile(path, FACTS);
    for (const [tile, content] of tiles) await file.add(tile, Buffer.from(content));
    await file.close();
    const read = await openPmtiles(path);
    return { read, header: await read.getHeader() };
  }

  const contentOf = async (read: PMTiles, { z, x, y }: TileNumber): Promise<string | null> => {
    const found = await read.getZxy(z, x, y);
    return found === undefined ? null : Buffer.from(found.data).toString();
  };

  /** Returns all tiles of some zooms, in the order of their numbers. */
  const allTiles = (...zooms: readonly number[]): TileNumber[] => {
    const ofZoom = (z: number): TileNumber[] => Array.from({ length: 4 ** z }, (_, index) => ({ z, x: index % 2 ** z, y: Math.floor(index / 2 ** z) }));
    return zooms.flatMap(ofZoom).sort((a, b) => tileId(a) - tileId(b));
  };

  it('numbers tiles in the same way as the reader', () => {
    const tiles = [...allTiles(0, 1, 2, 3, 4, 5), { z: 15, x: 17_719, y: 12_197 }, { z: 22, x: 4_194_303, y: 1 }];
    for (const tile of tiles) expect(tileId(tile)).toBe(zxyToTileId(tile.z, tile.x, tile.y));
  });

  it('returns every tile, and nothing for a missing tile', async () => {
    const tiles = allTiles(0, 1, 2, 3).filter((_, index) => index % 3 !== 1);
    const { read, header } = await written(tiles.map((tile) => [tile, JSON.stringify(tile)]));
    expect(header).toMatchObject({
      specVersion: 3, clustered: true, tileType: 1, tileCompression: 2, minZoom: 0, maxZoom: 8, minLon: 14, maxLat: 42,
      numAddressedTiles: tiles.length, numTileContents: tiles.length,
    });
    expect(await read.getMetadata()).toEqual({ name: 'test' });
    const there = new Set(tiles.map(tileId));
    for (const tile of allTiles(0, 1, 2, 3)) expect(await contentOf(read, tile)).toBe(there.has(tileId(tile)) ? JSON.stringify(tile) : null);
  });

  it('stores equal tiles once, and a run of equal tiles in one entry', async () => {
    const tiles = allTiles(3);
    const { read, header } = await written(tiles.map((tile, index) => [tile, index < 40 ? 'sea' : index % 2 === 0 ? 'even' : 'odd']));
    expect(header).toMatchObject({ numAddressedTiles: 64, numTileEntries: 25, numTileContents: 3 });
    for (const [index, tile] of tiles.entries()) expect(await contentOf(read, tile)).toBe(index < 40 ? 'sea' : index % 2 === 0 ? 'even' : 'odd');
  });

  it('uses leaf directories if the root directory would be too large', async () => {
    // Sizes and gaps are irregular, so that compression hardly reduces the directory.
    const contentAt = (tile: TileNumber): string => {
      const digest = createHash('sha512').update(`${tile.x} ${tile.y}`).digest('hex');
      return digest.slice(0, 8 + parseInt(digest.slice(0, 2), 16) / 3);
    };
    const tiles = allTiles(8).filter((tile) => contentAt(tile) > '8');
    const { read, header } = await written(tiles.map((tile) => [tile, contentAt(tile)]));
    expect(header.rootDirectoryLength).toBeLessThanOrEqual(16_257);
    expect(header.leafDirectoryLength).toBeGreaterThan(0);
    for (const tile of tiles.filter((_, index) => index % 997 === 0)) expect(await contentOf(read, tile)).toBe(contentAt(tile));
    expect(await contentOf(read, { z: 7, x: 1, y: 1 })).toBeNull();
  });

  it('rejects tiles out of order, because readers could not find them', async () => {
    const file = new PmtilesFile(join(folder, 'wrong.pmtiles'), FACTS);
    await file.add({ z: 3, x: 1, y: 1 }, Buffer.from('a'));
    await expect(file.add({ z: 3, x: 0, y: 0 }, Buffer.from('b'))).rejects.toThrow('expected a tile number greater than');
    await file.abort();
  });
});
