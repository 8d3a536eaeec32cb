/**
 * Defines the kinds of simulated nights. Each kind changes files, the behaviour of a publisher or the actions of the operator, and states the expected result.
 * The expected result follows only from the change, never from the output of the program.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import type { randomOf } from '../../pipelines/synthetic/random.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { rewriteZip, type Edit } from '../../test/harness/rewrite-zip.ts';
import { status, type Handler, type Manners } from '../../test/harness/publishers.ts';
import {
  boxOf, highestPrice, incomeOf, oneFlood, stationsOf, tenfoldIncomes, thirdOfLines, thirdOfStations, thousandfoldMotion, twoRows, withCivics,
  withColumn, withIncome,
  withoutCoordinates, withoutParcels, withPrices, withStations,
} from './files.ts';
import { FIRST_CIVIC, NIGHT_NAME, type Facts } from './observe.ts';
import { SLUG, type Route, type World } from './world.ts';

type Random = ReturnType<typeof randomOf>;

/** A refusal by the quality gate that the program must report. */
export interface Refusal {
  readonly relation: string;
  /** Pattern of the name of the statistic that the program must report. */
  readonly figure: RegExp;
}

/** How a night runs `watch`: `once`, `twice` at the same time, or `killed` before the end. */
export type Way = 'once' | 'twice' | 'killed';

export interface Expectation {
  /** Whether the region gets a new publication; null if the result depends on when the run is killed or which of two runs starts first. */
  readonly published: boolean | null;
  /** Accepted exit codes; null for a process that a signal ended. */
  readonly exits: readonly (number | null)[];
  /** Error code that the program must report. */
  readonly code?: string;
  readonly refusal?: Refusal;
  /** Warning that the program must report. */
  readonly warning?: string;
  readonly way?: Way;
}

export interface Kind {
  readonly name: string;
  readonly group: 'quiet' | 'change' | 'lie' | 'corruption' | 'operator';
  /** Makes the changes of the night, before `watch` runs. Returns the expected result. */
  act(scene: Scene): Promise<Expectation>;
  /** Reverts the changes of the night. Called at the start of the next night. */
  undo?(scene: Scene): Promise<void>;
}

const PUBLISHED: Expectation = { published: true, exits: [0] };
const UNCHANGED: Expectation = { published: false, exits: [0] };

/** Maximum number of parcels, addresses or stations that one night changes. */
const MOST_CHANGES = 50;
const FIRST_PARCEL = 60;
/** Number of different house numbers that the nights use. */
const OTHER_CIVICS = 7_000;
const VALORI = 'QI_900021.zip';
const MOTION = 'EGMS_L3_E46N21_100km_U_2020_2024_1.zip';

/** Keeps the expected state between nights: the current content of the files and the last published content. */
export class Scene {
  readonly world: World;
  readonly random: Random;
  night = 0;
  /** Content that a publication of the current files should have. */
  files: Facts;
  /** Content that the current publication and the previous publication should have. */
  published: readonly [Facts, Facts];
  readonly #stations: readonly string[];

  constructor(world: World, random: Random, facts: Facts) {
    this.world = world;
    this.random = random;
    this.files = facts;
    this.published = [facts, facts];
    this.#stations = stationsOf(world.truthOf('fuel'));
  }

  /** Records that the program should have published the current files. */
  publish(): void {
    this.published = [this.files, this.published[0]];
  }

  async changeZip(content: Buffer, edit: Edit, renamed?: (name: string) => string): Promise<Buffer> {
    const path = join(this.world.folder, 'edited.zip');
    await writeFile(path, content);
    await rewriteZip(path, edit, renamed === undefined ? {} : { renamed });
    return readFile(path);
  }

  /** Edits a workbook that is the only entry of a zip. */
  async changeWorkbook(content: Buffer, edit: Edit): Promise<Buffer> {
    const path = join(this.world.folder, 'edited.zip');
    await writeFile(path, content);
    const zip = await ZipArchive.open(path);
    const [entry] = zip.entries;
    if (entry === undefined) throw new Error('expected an entry in the zip, found none');
    const workbook = await this.changeZip(await zip.buffer(entry.path), edit);
    await zip.close();
    await writeZip(path, [[entry.path, workbook]]);
    return readFile(path);
  }

  /** Downloads the files of a rarely published source before the source is due. */
  async fetch(source: string): Promise<void> {
    await this.world.must(['fetch', SLUG, '--sources', source, '--data', this.world.downloads]);
  }

  /** Returns a new register of fuel stations, in which 1 to 50 stations have new names. The caller serves the register. */
  renameStations(): Buffer {
    const count = Math.min(1 + this.random.below(MOST_CHANGES), this.#stations.length);
    const from = this.random.below(this.#stations.length);
    const ids = Array.from({ length: count }, (_, step) => this.#stations[(from + step) % this.#stations.length] ?? '');
    const stations = Object.fromEntries(ids.map((id) => [id, `${NIGHT_NAME} ${this.night} ${id}`]));
    this.files = { ...this.files, stations };
    const content = withStations(this.#first('fuel'), new Map(Object.entries(stations)), this.world.day);
    this.world.truth.set('fuel', content);
    return content;
  }

  /** Serves a new register of fuel stations. */
  offerStations(manners: Manners = {}): void {
    this.world.serve('fuel', this.renameStations(), manners);
  }

  async offerCivics(): Promise<void> {
    const first = this.night * 2 * MOST_CHANGES;
    const civics = Array.from({ length: 1 + this.random.below(MOST_CHANGES) }, (_, step) => FIRST_CIVIC + (first + step) % OTHER_CIVICS);
    this.files = { ...this.files, civics: [...civics].sort((a, b) => a - b) };
    this.world.truth.set('addresses', await this.changeZip(this.#first('addresses'), (_, csv) => withCivics(csv, civics), () => `INDIR_MOLI_${this.world.day.replaceAll('-', '')}.csv`));
    this.world.tellTheTruth('addresses');
  }

  /** Renames the correct address file to the date of the night, so that the file supersedes the corrupt file of the previous night. */
  async dateAddresses(): Promise<void> {
    this.world.truth.set('addresses', await this.changeZip(this.world.truthOf('addresses'), (_, csv) => csv, () => `INDIR_MOLI_${this.world.day.replaceAll('-', '')}.csv`));
  }

  /** Serves the file of parcels after removing a few parcels. @param base number of parcels in the first files */
  async offerParcels(base: number): Promise<void> {
    // The number of removed parcels differs from the previous number, because otherwise the file would not change.
    const last = base - this.files.parcels;
    const drawn = 1 + this.random.below(19);
    const count = last > 0 && drawn >= last ? drawn + 1 : drawn;
    this.files = { ...this.files, parcels: base - count };
    this.world.truth.set('parcels', await this.changeZip(this.#first('parcels'), (path, gml) => (
      /Z001_.*_ple\.gml$/.test(path) ? withoutParcels(gml, (at) => at < FIRST_PARCEL || at >= FIRST_PARCEL + count) : gml)));
    this.world.tellTheTruth('parcels');
  }

  async offerIncomes(): Promise<void> {
    const edit = (csv: Buffer): Buffer => {
      const income = incomeOf(csv) + this.night;
      this.files = { ...this.files, income };
      return withIncome(csv, income);
    };
    this.world.truth.set('incomes', await this.changeZip(this.#first('incomes'), (_, csv) => edit(csv)));
    this.world.tellTheTruth('incomes');
  }

  async offerPrices(): Promise<void> {
    const edit = (csv: Buffer): Buffer => {
      this.files = { ...this.files, price: highestPrice(csv) + 1 + this.night };
      return withPrices(csv, 1 + this.night);
    };
    await this.world.replaceByHand(VALORI, await this.changeZip(await this.world.firstByHand(VALORI), (name, csv) => (name.endsWith('VALORI.csv') ? edit(csv) : csv)));
  }

  /** Returns the original content of the quotation table that nights change. */
  async firstPrices(): Promise<Buffer> {
    let table: Buffer = Buffer.alloc(0);
    await this.changeZip(await this.world.firstByHand(VALORI), (name, csv) => {
      if (name.endsWith('VALORI.csv')) table = csv;
      return csv;
    });
    return table;
  }

  #first(route: Route): Buffer {
    const content = this.world.first.get(route);
    if (content === undefined) throw new Error(`expected a first file of ${route}, found none`);
    return content;
  }
}

// --- Quiet nights and changes -----------------------------------------------------------------------------------------

const QUIET: readonly Kind[] = [
  { name: 'nothing new', group: 'quiet', act: async () => UNCHANGED },
  {
    name: 'same file, new date and ETag', group: 'quiet',
    act: async ({ world }) => {
      world.tellTheTruth('fuel');
      return UNCHANGED;
    },
  },
];

/** Returns a kind of night in which a rarely published file has changed and the operator requests the download. */
function slow(name: string, source: string, offer: (scene: Scene) => Promise<void>): Kind {
  return {
    name, group: 'change',
    async act(scene) {
      await offer(scene);
      await scene.fetch(source);
      return PUBLISHED;
    },
  };
}

/** Returns the kinds of nights with realistic changes. @param parcels returns the number of parcels in the first files */
function changes(parcels: () => number): readonly Kind[] {
  return [
    {
      name: '1 to 50 fuel stations', group: 'change',
      act: async (scene) => {
        scene.offerStations();
        return PUBLISHED;
      },
    },
    slow('1 to 50 addresses', 'anncsu_addresses', (scene) => scene.offerCivics()),
    slow('1 to 20 parcels', 'ade_cadastre', (scene) => scene.offerParcels(parcels())),
    slow('income of a comune', 'mef_income', (scene) => scene.offerIncomes()),
    {
      name: 'quotations, by hand', group: 'change',
      act: async (scene) => {
        await scene.offerPrices();
        return PUBLISHED;
      },
    },
    {
      name: 'fuel stations, new column', group: 'change',
      act: async (scene) => {
        // The correct content also has the column from now on, because a later night may serve the same file again.
        scene.world.truth.set('fuel', withColumn(scene.renameStations(), 'added'));
        scene.world.tellTheTruth('fuel');
        return { ...PUBLISHED, warning: 'COLUMNS_ADDED' };
      },
    },
    {
      name: 'fuel stations, gzip header on plain text', group: 'change',
      act: async (scene) => {
        const body = scene.renameStations();
        scene.world.answer('fuel', (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/csv', etag: `"night-${scene.night}"` }).end(body));
        return PUBLISHED;
      },
    },
  ];
}

// --- Publishers that fail or send false content --------------------------------------------------------------------------------------

/** Returns a kind of night in which the register of fuel stations has changed but cannot be downloaded. The next night downloads the register. */
function lie(name: string, code: string, handler: (body: Buffer, scene: Scene) => Handler): Kind {
  return {
    name, group: 'lie',
    async act(scene) {
      scene.world.answer('fuel', handler(scene.renameStations(), scene));
      return { published: false, exits: [3], code };
    },
    undo: async ({ world }) => world.tellTheTruth('fuel'),
  };
}

const page = (title: string, body: string): string => `<!DOCTYPE html><html><head><title>${title}</title></head><body>${body}</body></html>`;

/** Returns a handler that sends a part of a body and ends the connection. @param share share of the body to send */
function cut(body: Buffer, share: number): Handler {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/csv', 'content-length': body.length });
    response.write(body.subarray(0, Math.floor(body.length * share)), () => response.socket?.destroy());
  };
}

const LIES: readonly Kind[] = [
  lie('status 404', 'DOWNLOAD_MISSING', () => status(404)),
  lie('status 500', 'DOWNLOAD_BUSY', () => status(500)),
  lie('status 503 with Retry-After', 'DOWNLOAD_BUSY', () => status(503, { 'retry-after': '120' })),
  lie('connection reset', 'DOWNLOAD_UNREACHABLE', () => (request) => void request.socket.resetAndDestroy()),
  lie('truncated body', 'DOWNLOAD_SHORT', (body) => cut(body, 0.4)),
  lie('Content-Length too large', 'DOWNLOAD_SHORT', (body) => (_, response) => {
    response.writeHead(200, { 'content-type': 'text/csv', 'content-length': body.length + 1_000 });
    response.write(body, () => response.socket?.end());
  }),
  lie('error page with status 200', 'DOWNLOAD_PAGE', () => status(200, { 'content-type': 'text/html' }, page('Manutenzione', 'Il servizio non è disponibile.'))),
  lie('login page', 'DOWNLOAD_LOGIN', () => status(200, { 'content-type': 'text/html' }, page('Accesso', '<form action="/login" method="post"><input name="username"><input type="password" name="password"></form>'))),
  lie('redirect to a private address', 'DOWNLOAD_PRIVATE', () => status(302, { location: 'http://10.1.2.3/anagrafica_impianti_attivi.csv' })),
  lie('file of another source', 'DOWNLOAD_OTHER', (_, { world }) => (_request, response) => void response.writeHead(200, { 'content-type': 'text/csv' }).end(world.truthOf('incomes'))),
  lie('renamed column', 'COLUMNS_CHANGED', (body) => status(200, { 'content-type': 'text/csv' }, withColumn(body, 'renamed').toString('latin1'))),
];

// --- Corruptions ------------------------------------------------------------------------------------------------------

type Act = (scene: Scene) => Promise<void>;

function corruption(name: string, refusal: Refusal | null, source: string | null, act: Act, undo: Act): Kind {
  return {
    name, group: 'corruption',
    async act(scene) {
      await act(scene);
      if (source !== null) await scene.fetch(source);
      // Without `refusal`, the reader refuses the file before the quality gate.
      return refusal === null ? { published: false, exits: [3], code: 'TOO_MANY_REJECTS' } : { published: false, exits: [5], code: 'SUSPICIOUS', refusal };
    },
    async undo(scene) {
      await undo(scene);
      if (source !== null) await scene.fetch(source);
    },
  };
}

/** Returns a kind of night in which a publisher serves a corrupt file. The next day, the publisher serves the correct file. */
function served(name: string, route: Route, source: string | null, refusal: Refusal, edit: (content: Buffer, scene: Scene) => Promise<Buffer> | Buffer): Kind {
  return corruption(name, refusal, source, async (scene) => scene.world.serve(route, await edit(scene.world.truthOf(route), scene)), async (scene) => {
    if (route === 'addresses') await scene.dateAddresses();
    scene.world.tellTheTruth(route);
  });
}

/**
 * Returns a kind of night in which a person puts a corrupt file into the second data folder. The next day, the person replaces the file with the correct file.
 */
function byHand(name: string, file: string, refusal: Refusal | null, edit: Edit): Kind {
  let before: Buffer | null = null;
  return corruption(name, refusal, null, async (scene) => {
    before = await readFile(join(scene.world.byHand, file));
    await scene.world.replaceByHand(file, await scene.changeZip(before, edit));
  }, async ({ world }) => {
    if (before !== null) await world.replaceByHand(file, before);
  });
}

const CORRUPTIONS: readonly Kind[] = [
  byHand('VALORI cut after a third', VALORI, { relation: 'core.quotation', figure: /^rows$/ }, (name, csv) => (name.endsWith('VALORI.csv') ? thirdOfLines(csv, 2) : csv)),
  served('incomes times ten', 'incomes', 'mef_income', { relation: 'core.declared_income', figure: /^total_income_eur, median$/ }, (zip, scene) => scene.changeZip(zip, (_, csv) => tenfoldIncomes(csv))),
  served('addresses without coordinates', 'addresses', 'anncsu_addresses', { relation: 'core.access_point', figure: /^geom, share of non-null$/ },
    (zip, scene) => scene.changeZip(zip, (_, csv) => withoutCoordinates(csv), () => `INDIR_MOLI_${scene.world.day.replaceAll('-', '')}.csv`)),
  served('a census of two rows', 'census', 'istat_census', { relation: 'core.census_figures', figure: /^rows$/ },
    (zip, scene) => scene.changeWorkbook(zip, (name, sheet) => (name.endsWith('sheet1.xml') ? twoRows(sheet) : sheet))),
  served('one flood polygon for the region', 'floods', 'ispra_flood', { relation: 'section.risk', figure: /^flood/ }, async (zip, scene) => {
    let box: readonly [number, number, number, number] = [0, 0, 0, 0];
    await scene.changeZip(zip, (name, content) => {
      if (/LPH_.*\.shp$/.test(name)) box = boxOf(content);
      return content;
    });
    return oneFlood(box);
  }),
  byHand('EGMS velocities times 1,000', MOTION, null, (name, csv) => (name.endsWith('.csv') ? thousandfoldMotion(csv) : csv)),
  served('fuel stations cut after a third', 'fuel', null, { relation: 'core.point_of_interest', figure: /^rows$/ }, (csv) => thirdOfStations(csv)),
  served('half of the parcels', 'parcels', 'ade_cadastre', { relation: 'core.parcel', figure: /^rows$/ },
    (zip, scene) => scene.changeZip(zip, (path, gml) => (path.endsWith('_ple.gml') ? withoutParcels(gml, (at, count) => at * 2 < count) : gml))),
];

// --- The operator and the machine -------------------------------------------------------------------------------------

const OPERATOR: readonly Kind[] = [
  {
    name: 'two watches at once', group: 'operator',
    async act(scene) {
      scene.offerStations();
      // Either run may exit because the other run is writing. In this case, the next night publishes.
      return { published: null, exits: [0, 7], way: 'twice' };
    },
  },
  {
    name: 'killed in the middle', group: 'operator',
    async act(scene) {
      scene.offerStations();
      return { published: null, exits: [null, 0], way: 'killed' };
    },
  },
  {
    name: 'rolled back', group: 'operator',
    async act(scene) {
      await scene.world.must(['rollback', SLUG]);
      scene.published = [scene.published[1], scene.published[0]];
      return UNCHANGED;
    },
  },
  {
    name: 'pinned', group: 'operator',
    async act(scene) {
      await scene.world.must(['pin', SLUG, '--reason', 'a night']);
      scene.offerStations();
      return UNCHANGED;
    },
    undo: ({ world }) => world.must(['unpin', SLUG]),
  },
];

/** Returns, by month and day (`03-10`), the nights on which a source is due. The operator does not request these downloads. */
function calendar(parcels: () => number): Readonly<Record<string, Kind>> {
  const onDay = (name: string, offer: (scene: Scene) => Promise<void> | void): Kind => ({
    name, group: 'change',
    act: async (scene) => {
      await offer(scene);
      return PUBLISHED;
    },
  });
  // The program names the list of places of culture after the day of the download. The program downloads the list when the list is due, and weekly in the next
  // 35 days. The content never changes, so these nights publish only the fuel stations.
  const places = onDay('unchanged list of places of culture, as scheduled', (scene) => scene.offerStations());
  const dates = ['01-31', '07-31'].flatMap((day) => [0, 7, 14, 21, 28].map((late) => new Date(Date.parse(`2027-${day}`) + late * 86_400_000).toISOString().slice(5, 10)));
  return {
    ...Object.fromEntries(dates.map((date) => [date, places])),
    ...Object.fromEntries(Array.from({ length: 12 }, (_, month) => [`${String(month + 1).padStart(2, '0')}-16`, onDay('addresses, as scheduled', (scene) => scene.offerCivics())])),
    '03-10': onDay('parcels, as scheduled', (scene) => scene.offerParcels(parcels())), '09-10': onDay('parcels, as scheduled', (scene) => scene.offerParcels(parcels())),
    ...Object.fromEntries(['05-15', '07-15', '10-15'].map((day) => [day, onDay('incomes, as scheduled', (scene) => scene.offerIncomes())])),
  };
}

const GOOD: Kind = {
  name: 'good night after a bad night', group: 'change',
  async act(scene) {
    scene.offerStations();
    return PUBLISHED;
  },
};

/** Returns the number of nights of a kind in a year. The remaining nights of the year are quiet. */
function timesOf({ name, group }: Kind): number {
  if (name === 'same file, new date and ETag') return 24;
  if (name === '1 to 50 fuel stations') return 40;
  return { quiet: 0, change: 8, lie: 4, corruption: 4, operator: 5 }[group];
}

export interface PlanOptions {
  readonly nights: number;
  /** Start of the first planned night, in milliseconds since 1970. */
  readonly first: number;
  readonly random: Random;
  /** Returns the number of parcels in the first files. */
  readonly parcels: () => number;
  /** Group whose kinds of night run once each; null for the nights of a year. */
  readonly group: string | null;
}

/** Returns the kind of each night after the first load. */
export function planOf({ nights, first, random, parcels, group }: PlanOptions): readonly Kind[] {
  const kinds = [...QUIET, ...changes(parcels), ...LIES, ...CORRUPTIONS, ...OPERATOR];
  if (group !== null) return kinds.filter((kind) => kind.group === group).flatMap((kind) => (isBad(kind) ? [kind, GOOD] : [kind])).slice(0, nights);
  const onDay = calendar(parcels);
  const [fuel, quiet] = [kinds.find(({ name }) => name === '1 to 50 fuel stations'), QUIET[0]];
  if (fuel === undefined || quiet === undefined) throw new Error('expected a change and a quiet night among the kinds of nights, found none');
  // Starts with one night of each group, so that even a short run contains all groups.
  const groups = ['change', 'corruption', 'lie', 'quiet', 'operator'] as const;
  const sample = groups.map((group) => kinds.filter((kind) => kind.group === group)).map((all) => all[random.below(all.length)] ?? quiet);
  const rest = shuffled(kinds.flatMap((kind) => Array.from({ length: timesOf(kind) }, () => kind)), random);
  const blocks = [fuel, ...sample, ...rest].flatMap((kind) => (isBad(kind) ? [[kind, GOOD]] : [[kind]]));
  const missing = Math.max(0, nights - blocks.flat().length - Object.keys(onDay).length);
  const queue = [...blocks.slice(0, 6), ...shuffled([...blocks.slice(6), ...Array.from({ length: missing }, () => [quiet])], random)].flat();
  const released = (night: number): Kind | undefined => onDay[new Date(first + night * 86_400_000).toISOString().slice(5, 10)];
  const plan: Kind[] = [];
  for (let night = 0; night < nights; night += 1) {
    const [next = quiet] = queue;
    // After a bad night, the next night must serve correct files. This next night cannot be a day on which a source is due, because a second request on the
    // same day would still find the first file.
    const mustWait = isBad(next) && released(night + 1) !== undefined;
    plan.push(released(night) ?? (mustWait ? quiet : queue.shift() ?? quiet));
  }
  return plan;
}

/** Returns whether the night after this kind of night must serve correct files. */
function isBad({ name, group }: Kind): boolean {
  return group === 'lie' || group === 'corruption' || name === 'killed in the middle' || name === 'two watches at once' || name === 'pinned' || name === 'rolled back';
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return Array.from({ length: left.length }, () => left.splice(random.below(left.length), 1)).flat();
}
