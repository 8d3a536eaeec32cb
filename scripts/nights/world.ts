/**
 * Simulates the machine and the publishers during a year of nights. The simulation has two data folders, an HTTP server for the publishers, a database, and the
 * program in a child process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { basename, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { ROOT } from '../../pipelines/config.ts';
import { loadDownload } from '../../pipelines/contract/download.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { writeXlsx } from '../../pipelines/synthetic/xlsx-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { childEnvironment } from '../../test/harness/environment.ts';
import { served, startPublisher, type Handler, type Manners, type PublisherServer } from '../../test/harness/publishers.ts';

export const REGION = 14;
export const SLUG = 'molise';

/**
 * Routes of the files whose content nights can change. The publishers serve some other files unchanged. All remaining files are in the second data folder, as
 * if a person had saved them there.
 */
export const ROUTES = {
  fuel: '/mimit_fuel/anagrafica_impianti_attivi.csv', parcels: '/ade_cadastre?MOLISE.zip', addresses: '/anncsu_addresses?INDIR_MOLI', streets: '/anncsu_addresses?STRAD_MOLI',
  incomes: '/mef_income/Redditi_e_principali_variabili_IRPEF_su_base_comunale_CSV_2024.zip', census: '/istat_census/Dati_regionali_2021.zip',
  floods: '/ispra_flood/Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica.zip',
} as const;

export type Route = keyof typeof ROUTES;

/** Matches files of the synthetic region that the nights do not need. */
const LEFT_OUT = /^(?:Copernicus_DSM|aggregati_strutturali|EGMS_L3_.*(?:_E_|_2018_2022_|E47N21)|VNP46A4\.A2022|datasetLuoghi|Dati_regionali_2021_prima|cap_2019|QI_9000(?:0[2-9]|1\d|20)\.zip|Mosaicatura_ISPRA_2024)/;

export interface Ended {
  /** Exit code; null if a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Process {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

interface WorldOptions {
  readonly parcels: number;
  readonly seed: number;
  /** Time of the first night, in milliseconds since 1970. */
  readonly start: number;
}

export class World {
  readonly folder: string;
  readonly publisher: PublisherServer;
  readonly databaseUrl: string;
  /** Correct content of the publishers' files, by route. */
  readonly truth = new Map<Route, Buffer>();
  /** Original content of the publishers' files, by route. */
  readonly first = new Map<Route, Buffer>();
  readonly #environment: Readonly<Record<string, string>>;
  readonly #firstByHand = new Map<string, Buffer>();
  #issue = 0;
  /** Start of the night, in milliseconds since 1970. */
  now: number;

  private constructor(folder: string, publisher: PublisherServer, databaseUrl: string, environment: Readonly<Record<string, string>>, start: number) {
    this.folder = folder;
    this.publisher = publisher;
    this.databaseUrl = databaseUrl;
    this.#environment = environment;
    this.now = start;
  }

  get downloads(): string {
    return join(this.folder, 'downloads');
  }

  get byHand(): string {
    return join(this.folder, 'by-hand');
  }

  /** Date of the night, such as `2026-12-01`. */
  get day(): string {
    return new Date(this.now).toISOString().slice(0, 10);
  }

  /** Removes the content of the folder, writes the synthetic region and starts the publishers. @param databaseUrl URL of an empty database */
  static async start(folder: string, databaseUrl: string, { parcels, seed, start }: WorldOptions): Promise<World> {
    const sources = await loadSources();
    const publisher = await startPublisher();
    const downloads = await Promise.all(sources.map(async ({ id }) => [id, await loadDownload(id)] as const));
    const query = new Set(['ade_cadastre', 'anncsu_addresses', 'mic_places', 'omi_quotations']);
    const urls = downloads.flatMap(([id, { files }]) => (files === undefined ? [] : [[`MAPPALE_${id.toUpperCase()}_URL`, `${publisher.url}/${id}${query.has(id) ? '?' : '/'}`]]));
    const world = new World(folder, publisher, databaseUrl, Object.fromEntries(urls) as Record<string, string>, start);
    await rm(folder, { recursive: true, force: true });
    await mkdir(world.byHand, { recursive: true });
    await mkdir(world.downloads);
    await writeSynthetic(sources, world.byHand, { parcels, seed, region: REGION });
    for (const name of await readdir(world.byHand)) if (LEFT_OUT.test(name)) await rm(join(world.byHand, name), { recursive: true });
    await world.#serveAll();
    return world;
  }

  /** Serves a file with a new ETag and date. @param manners faults that the server simulates in the responses */
  serve(route: Route, body: Buffer, manners: Manners = {}): void {
    this.#issue += 1;
    const version = createHash('sha256').update(body).update(String(this.#issue)).digest('hex').slice(0, 16);
    this.answer(route, served(body, { etag: `"${version}"`, modified: new Date(this.now).toUTCString(), ...manners }));
  }

  answer(route: Route, handler: Handler): void {
    this.publisher.routes.set(ROUTES[route], handler);
    // The 2023 edition of the census has different columns, which the synthetic region does not write. Therefore the server serves the 2021 file under both
    // names, and the program treats both as one file.
    if (route === 'census') this.publisher.routes.set('/istat_census/Dati_regionali_2023.zip', handler);
  }

  /** Serves the correct content of a file. */
  tellTheTruth(route: Route): void {
    this.serve(route, this.truthOf(route));
  }

  truthOf(route: Route): Buffer {
    const content = this.truth.get(route);
    if (content === undefined) throw new Error(`expected a served file at ${ROUTES[route]}, found none`);
    return content;
  }

  /** Starts the program, with a clock that starts at `now`. */
  begin(args: readonly string[]): Process {
    const child = spawn(process.execPath, [join(ROOT, 'pipelines/mappale.mjs'), ...args], {
      cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'],
      env: childEnvironment({ ...this.#environment, DATABASE_URL: this.databaseUrl, MAPPALE_LOG: 'json', MAPPALE_TEST_CLOCK: new Date(this.now).toISOString() }),
    });
    const text = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
    return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, ...text })) };
  }

  async run(args: readonly string[]): Promise<Ended> {
    return this.begin(args).ended;
  }

  /** Runs a command that must succeed. @throws Error with the output of the command */
  async must(args: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`mappale ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  }

  async close(): Promise<void> {
    await this.publisher.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Moves the files that publishers serve from the data folder to the HTTP server. */
  async #serveAll(): Promise<void> {
    const names = await readdir(this.byHand);
    const path = (pattern: RegExp): string => {
      const name = names.find((each) => pattern.test(each));
      if (name === undefined) throw new Error(`the synthetic region has no file like ${pattern}`);
      return join(this.byHand, name);
    };
    const take = async (pattern: RegExp): Promise<Buffer> => {
      const content = await readFile(path(pattern));
      await rm(path(pattern), { recursive: true });
      return content;
    };
    const zipped = async (entry: string, content: Buffer): Promise<Buffer> => {
      const into = join(this.folder, 'packed.zip');
      await writeZip(into, [[entry, content]]);
      return readFile(into);
    };
    const truth = (route: Route, content: Buffer): void => {
      this.truth.set(route, content);
      this.first.set(route, content);
      this.tellTheTruth(route);
    };
    const fixed = (route: string, content: Buffer): void => void this.publisher.routes.set(route, served(content, { etag: `"${route.length}"` }));
    truth('fuel', await take(/^anagrafica_impianti/));
    truth('parcels', await take(/^MOLISE\.zip$/));
    truth('addresses', await take(/^indirizzario/));
    truth('streets', await take(/^stradario/));
    truth('incomes', await take(/_comunale_CSV_2024/));
    truth('floods', await take(/^Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica/));
    const subcomunale = await take(/_subcomunale_CSV_2023/);
    const [level, year] = ['Redditi_e_principali_variabili_IRPEF_su_base_subcomunale_CSV', 2024];
    fixed(`/mef_income/${level}_${year}.zip`, await zipped(`${level}_${year}.csv`, Buffer.from(subcomunale.toString('latin1').replaceAll(/^2023;/gm, `${year};`), 'latin1')));
    const census = await readFile(join(path(/^Dati_regionali_2021$/), 'R14_indicatori_2021_sezioni.xlsx'));
    await rm(path(/^Dati_regionali_2021$/), { recursive: true });
    truth('census', await zipped('R14_indicatori_2021_sezioni.xlsx', census));
    fixed('/istat_census/R14_21.zip', await take(/^R14_21\.zip$/));
    fixed('/istat_boundaries/2026/Limiti01012026_g.zip', await take(/^Limiti/));
    fixed('/ingv_mps04/italia_ag_002_txt.zip', await take(/^italia_ag/));
    fixed('/tinitaly_dem/w46590_s10/w46590_s10.zip', await take(/^w46590/));
    fixed('/ispra_landslide/Mosaicatura_ISPRA_2024_pericolosita_frana_PAI.zip', await take(/_frana_PAI\.zip$/));
    await this.#serveComuni(await take(/^Elenco-comuni-italiani\.csv$/));
    const seismic = basename(path(/^classificazione/));
    fixed(`/dpc_seismic/${seismic}`, await take(/^classificazione/));
    this.publisher.routes.set('/dpc_seismic/', served(Buffer.from(`<!doctype html><html><a href="/dpc_seismic/${seismic}">csv</a></html>`), { type: 'text/html' }));
    await this.#servePlaces(await take(/^luoghi_della_cultura/));
    await this.#servePerimeters(path);
  }

  /** Serves the list of comuni as a workbook, like ISTAT. */
  async #serveComuni(csv: Buffer): Promise<void> {
    const into = join(this.folder, 'Elenco.xlsx');
    const rows = parse(csv, { delimiter: ';', encoding: 'latin1', skipEmptyLines: true });
    await writeXlsx(into, 'CODICI al 30_06_2026', rows);
    this.publisher.routes.set('/istat_comuni/Elenco-comuni-italiani.xlsx', served(await readFile(into)));
    await rm(into);
  }

  /** Serves the list of places of culture in pages, like the ministry. The first page has all rows, and every later page has only the header. */
  async #servePlaces(csv: Buffer): Promise<void> {
    const header = csv.subarray(0, csv.indexOf(0x0a) + 1);
    this.publisher.routes.set('/mic_places?*', (request, response) => {
      const isFirst = /offset(?:%20|\+| )0(?!\d)/.test(request.url ?? '');
      response.writeHead(200, { 'content-type': 'text/csv' }).end(isFirst ? csv : header);
    });
  }

  /** Serves a KML file of the first half of 2026 for each province, with the zones of the synthetic region. */
  async #servePerimeters(path: (pattern: RegExp) => string): Promise<void> {
    const texts = new Map<string, string>();
    for (const [plate, pattern] of [['CB', /CAMPOBASSO.*\.kmz$/], ['IS', /ISERNIA.*\.kmz$/]] as const) {
      const kmz = await ZipArchive.open(path(pattern));
      const entry = kmz.entries.find((each) => / 2018-2\.kml$/.test(each.path));
      texts.set(plate, entry === undefined ? '' : (await kmz.buffer(entry.path)).toString('latin1'));
      await kmz.close();
    }
    this.publisher.routes.set('/omi_quotations?*', (request, response) => {
      const { searchParams } = new URL(request.url ?? '', this.publisher.url);
      const half = searchParams.get('semestre') ?? '';
      if (half !== '20261') return void response.writeHead(404).end();
      const text = texts.get(searchParams.get('prov') ?? '') ?? '';
      response.writeHead(200, { 'content-type': 'application/vnd.google-earth.kml+xml' });
      response.end(Buffer.from(text.replace(/2018([-/_ ]+)2/g, `${half.slice(0, 4)}$1${half.slice(4)}`), 'latin1'));
    });
  }

  /** Returns the content of the first entry of a zip; empty for a zip without entries. */
  async entryOf(zip: Buffer): Promise<Buffer> {
    const path = join(this.folder, 'opened.zip');
    await writeFile(path, zip);
    const archive = await ZipArchive.open(path);
    const [entry] = archive.entries;
    const content = entry === undefined ? Buffer.alloc(0) : await archive.buffer(entry.path);
    await archive.close();
    return content;
  }

  /** Replaces a file in the second data folder, as a person would. */
  async replaceByHand(name: string, content: Buffer): Promise<void> {
    await writeFile(join(this.byHand, name), content);
  }

  /** Returns the original content of a file in the second data folder. */
  async firstByHand(name: string): Promise<Buffer> {
    const content = this.#firstByHand.get(name) ?? await readFile(join(this.byHand, name));
    this.#firstByHand.set(name, content);
    return content;
  }
}
