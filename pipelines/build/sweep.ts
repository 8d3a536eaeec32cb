/**
 * Computes values of shapes from rasters (a sweep). Shapes are read in the order of the rasters' blocks. For each grid, one pass finds the cells of each shape,
 * collects the cells' values and writes the results with COPY. Memory use depends on the size of blocks and shapes, not on the size of files or the number of
 * shapes. The sweep is part of the transaction that builds the table, so a killed run leaves no rows.
 */
import { dirname } from 'node:path';
import { loadModule } from '../program.ts';
import type { Session } from '../db/index.ts';
import { analyze } from '../db/ddl.ts';
import { providePreviousRows } from '../db/layers.ts';
import { statementsOf } from '../db/statements.ts';
import { RowWriter, type Columns } from '../formats/copy.ts';
import type { Sweep } from '../contract/sweep.ts';
import type { SqlFile } from '../contract/sql-files.ts';
import { tilesOf } from './sweep-files.ts';
import { Blocks, mosaicsOf, type Mosaic } from './sweep-mosaic.ts';
import { projectionInto, type Project } from './sweep-projection.ts';
import { AreaSampler, PointSampler, type Detail, type Sampler } from './sweep-sample.ts';
import { inCells, Shape } from './sweep-shape.ts';

/** Number of shapes that one `fetch` statement returns. The next shapes are fetched while the previous shapes are sampled. */
const SHAPES = 4_000;
/** Minimum height, in raster rows, of the bands by which shapes are ordered. */
const BAND = 256;

interface ShapeRow {
  readonly id: number;
  /** Coordinates of the shape's point, in the CRS of the rasters. */
  readonly x: number;
  readonly y: number;
  /** WKB of an area in degrees; null for a point. */
  readonly geom: Uint8Array | null;
}

/** Columns that follow `turn` and `id` in the sweep's table, before the columns with the values. */
const COUNTS: Columns = { model: 'int4', cells: 'int4', missing: 'int4', unread: 'bool' };
const RUNS: Columns = { release_id: 'int4', position: 'int8', turn: 'int4', row_number: 'int4', first_column: 'int4', last_column: 'int4' };

const statement = statementsOf('sweep');

/**
 * Runs the SQL file that builds a table, including the raster sweeps at its `-- sweep:` lines. Call inside a transaction.
 * @param schema schema in which tables with unqualified names are created
 * @param published partition of the table in the current publication, or null. If a raster is missing, the file's SQL copies rows of this partition from the
 * view `standing_<table>`
 * @param detail `runs`: also records the used cells, for the explanation of a few parcels
 */
export async function runTableFile(
  session: Session, schema: string, { file, parts, sweep, writes: [relation] }: SqlFile, published: string | null, detail: Detail = 'counts',
): Promise<void> {
  if (sweep !== null && relation !== undefined) await providePreviousRows(session, schema, relation, published);
  for (const part of parts) {
    if (!('sweep' in part)) await session.script(part.text, part.file);
    else for (const each of await loadModule<readonly Sweep[]>(`${dirname(file)}/${part.sweep}`)) await sweepCells(session, schema, each, detail);
  }
}

/** Runs one sweep. @returns the number of bytes read, for measurements */
async function sweepCells(session: Session, schema: string, sweep: Sweep, detail: Detail): Promise<{ readonly bytesRead: number }> {
  const columns: Columns = 'sample' in sweep ? { value: 'float8' } : sweep.columns;
  const tables = { into: { schema, table: sweep.into }, runs: { schema, table: `${sweep.into}_run` } };
  await session.script(statement('tables', {
    ...tables, columns: { sql: Object.entries(columns).map(([name, type]) => statement('column', { name, type: { sql: type } })).join(',\n  ') },
  }), 'sql/statements/sweep.sql, tables');
  const blocks = new Blocks();
  const pass = new Pass(session, schema, sweep, columns, detail);
  try {
    for (const mosaic of mosaicsOf(await tilesOf(session, schema, sweep.tiles), blocks)) await pass.over(mosaic);
  } finally {
    await blocks.close();
  }
  return { bytesRead: blocks.bytesRead };
}

/** Runs a sweep over all mosaics of its rasters, one mosaic after another. */
class Pass {
  readonly #session: Session;
  readonly #schema: string;
  readonly #sweep: Sweep;
  readonly #rows: Batch;
  readonly #detail: Detail;
  readonly #runs: Batch | null;
  readonly #shape = new Shape();

  constructor(session: Session, schema: string, sweep: Sweep, columns: Columns, detail: Detail) {
    this.#session = session;
    this.#schema = schema;
    this.#sweep = sweep;
    this.#rows = new Batch(session, schema, sweep.into, { ...COUNTS, ...columns });
    this.#detail = detail;
    this.#runs = detail === 'runs' ? new Batch(session, schema, `${sweep.into}_run`, RUNS) : null;
  }

  async over(mosaic: Mosaic): Promise<void> {
    this.#rows.writer.memberId += 1;
    const sampler: Sampler = 'sample' in this.#sweep ? new PointSampler(this.#sweep, mosaic, this.#detail) : new AreaSampler(this.#sweep, mosaic, this.#detail);
    const project = projectionInto(mosaic.epsg);
    await this.#session.query(this.#cursor(mosaic));
    const next = async (): Promise<ShapeRow[]> => this.#session.query<ShapeRow & Record<string, unknown>>(statement('next_shapes', { shapes: SHAPES }));
    let coming = next();
    let going = Promise.resolve();
    for (let shapes = await coming; shapes.length > 0; shapes = await coming) {
      coming = next();
      // Prevents an unhandled rejection. The error is thrown where the promise is awaited.
      coming.catch(() => undefined);
      for (const shape of shapes) await this.#take(shape, mosaic, project, sampler);
      // Rows are written while the next shapes are sampled.
      await going;
      going = this.#send();
      going.catch(() => undefined);
    }
    await going;
    await this.#session.query(statement('no_more_shapes'));
    await analyze(this.#session, this.#schema, this.#sweep.into);
  }

  async #send(): Promise<void> {
    await this.#rows.send();
    await this.#runs?.send();
  }

  #cursor({ epsg, west, north, cellHeight, cellWidth, tiles }: Mosaic): string {
    const { over, into, tiles: view } = this.#sweep;
    const isArea = !('sample' in this.#sweep);
    const place = (table: string): { schema: string; table: string } => ({ schema: this.#schema, table });
    const [first] = tiles;
    return statement('shapes', {
      over: { sql: statement(isArea ? 'areas' : 'points', { over: place(over) }) },
      geom: { sql: statement(isArea ? 'area' : 'point') },
      tiles: place(view), into: place(into), members: tiles.map(({ tile }) => tile.memberId), epsg, west, north,
      stripe: (first?.tile.width ?? 1) * cellWidth, band: Math.max(BAND, first?.tile.blockHeight ?? 1) * cellHeight,
    });
  }

  async #take({ id, x, y, geom }: ShapeRow, mosaic: Mosaic, project: Project, sampler: Sampler): Promise<void> {
    const shape = this.#shape;
    const [column, row] = [inCells(x - mosaic.west, mosaic.cellWidth), inCells(mosaic.north - y, mosaic.cellHeight)];
    if (geom !== null) shape.area(Buffer.from(geom.buffer, geom.byteOffset, geom.length), mosaic, project);
    if (geom === null || shape.lastColumn < shape.firstColumn) shape.cell(Math.floor(column), Math.floor(row));
    const isThere = sampler.look(shape, column, row);
    if (isThere) {
      const pending = sampler.gather(shape, column, row);
      if (pending !== undefined) await pending;
    }
    const { cells, missing, values, runs } = sampler.take();
    if (isThere && cells === 0) return;
    this.#rows.writer.row(id, isThere ? [mosaic.model, cells, missing, false, ...values] : [mosaic.model, 0, 0, true, ...values.map(() => null)]);
    for (const [tile, line, first, last] of runs) {
      const placed = mosaic.tiles[tile];
      if (this.#runs === null || placed === undefined) continue;
      const { releaseId, memberId, position } = placed.tile;
      this.#runs.writer.memberId = memberId;
      this.#runs.writer.row(id, [releaseId, position, this.#rows.writer.memberId, line - placed.row, first - placed.column, last - placed.column]);
    }
  }
}

/** Rows that are collected for one COPY into a table. */
class Batch {
  readonly writer: RowWriter;
  readonly #session: Session;
  readonly #schema: string;
  readonly #table: string;
  #chunks: Buffer[] = [];

  constructor(session: Session, schema: string, table: string, columns: Columns) {
    this.#session = session;
    this.#schema = schema;
    this.#table = table;
    this.writer = new RowWriter(columns, (chunk) => this.#chunks.push(chunk));
  }

  async send(): Promise<void> {
    this.writer.flush();
    const rows = Buffer.concat(this.#chunks);
    this.#chunks = [];
    if (rows.length > 0) await this.#session.copyRows(this.#schema, this.#table, rows);
  }
}
