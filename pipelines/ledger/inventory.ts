/** Reads the inventory: the loaded files, and the current files of each region. */
import { hasRelation } from '../db/ddl.ts';
import type { Database, Session } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { sourceOfLayer, type RegisteredSource } from '../contract/registry.ts';
import { PARCEL_LAYERS, tableOf, type Relation } from '../contract/sql-files.ts';
import { NOTHING, countable, currentFiles, currentPlaces, regionOf, type CurrentFiles, type LoadedFile, type Register } from './current-files.ts';
import { loadedFiles, releases as readReleases, type Release } from './ledger.ts';

/** Layers of parcels and addresses. A region can be published if one of these layers has rows. */
export const PUBLISHABLE: readonly Relation[] = [...PARCEL_LAYERS, 'layer.accesso'];
/** Layer with the list of comuni. Without this list, the tables of Italy (unit 0) are not published. */
export const COMUNI: Relation = 'layer.comune_code';
/** Layers that must be loaded before a region is published, if the data folder has files of these layers. A region may be published without other layers. */
const FOUNDATION: readonly Relation[] = [...PUBLISHABLE, COMUNI];

/** Returns whether an unreadable file of a source prevents the publication of the file's regions. */
export function mayWithhold({ layer }: Pick<RegisteredSource, 'layer'>): boolean {
  return layer.writes.some((relation) => FOUNDATION.includes(relation));
}

export class Inventory {
  readonly files: readonly LoadedFile[];
  readonly releases: ReadonlyMap<number, Release>;
  readonly register: Register;
  readonly #sources: readonly RegisteredSource[];
  readonly #known = new Map<string, CurrentFiles>();
  readonly #kept = new Map<number, ReadonlySet<string>>();

  constructor(files: readonly LoadedFile[], releases: readonly Release[], register: Register, sources: readonly RegisteredSource[]) {
    this.files = files;
    this.releases = new Map(releases.map((release) => [release.releaseId, release]));
    this.register = register;
    this.#sources = sources;
  }

  static async read(database: Database, sources: readonly RegisteredSource[]): Promise<Inventory> {
    return database.session(async (session) => {
      const files = await loadedFiles(session);
      return new Inventory(files, await readReleases(session, 'loaded'), await registerOf(session, files, sources), sources);
    });
  }

  /** Returns the inventory with a different list of loaded files, and with additional releases. */
  with(files: readonly LoadedFile[], releases: readonly Release[] = []): Inventory {
    return new Inventory(files, [...this.releases.values(), ...releases], this.register, this.#sources);
  }

  /** Returns the inventory without the files with the given ids. */
  without(fileIds: ReadonlySet<number>): Inventory {
    return this.with(this.files.filter(({ fileId }) => !fileIds.has(fileId)));
  }

  /** @param region the region code, or 0 for Italy */
  current(region: number, relation: Relation): CurrentFiles {
    const key = `${region} ${relation}`;
    let found = this.#known.get(key);
    if (found === undefined) {
      const source = sourceOfLayer(this.#sources, relation);
      // Layers of parcels or addresses do not need `kept`, because each parcel and address is in one region only.
      const kept = region === 0 || source === undefined || mayWithhold(source) ? undefined : this.#keptComuni(region);
      found = source === undefined ? NOTHING : currentFiles(this.files, source, { region, layer: tableOf(relation), register: this.register, kept });
      this.#known.set(key, found);
    }
    return found;
  }

  /** Returns the comuni with parcels or addresses in a region that the list of comuni assigns to another region. */
  #keptComuni(region: number): ReadonlySet<string> {
    let kept = this.#kept.get(region);
    if (kept === undefined) {
      const held = PUBLISHABLE.flatMap((relation) => currentPlaces(this.current(region, relation), tableOf(relation)));
      kept = new Set(held.filter((place) => (this.register.get(place) ?? region) !== region));
      this.#kept.set(region, kept);
    }
    return kept;
  }

  /** Returns the files that are current for a region in any layer. */
  used(region: number): LoadedFile[] {
    const layers = this.#sources.flatMap(({ layer }) => layer.writes);
    return [...new Set(layers.flatMap((layer) => this.current(region, layer).files.map(({ file }) => file)))];
  }

  /** Returns the regions that have rows in these layers. */
  regionsOf(relations: readonly Relation[]): number[] {
    const layers = new Set(relations.map(tableOf));
    const found = new Set<number>();
    for (const file of countable(this.files)) {
      for (const held of file.held) {
        if (!layers.has(held.layer)) continue;
        for (const place of held.places) {
          const region = regionOf(file, held, place, this.register);
          if (region !== null) found.add(region);
        }
      }
    }
    return [...found].sort((a, b) => a - b);
  }
}

/** Returns the region of each comune in the current list of comuni; empty if no list is loaded. */
async function registerOf(session: Session, files: readonly LoadedFile[], sources: readonly RegisteredSource[]): Promise<Register> {
  const source = sourceOfLayer(sources, COMUNI);
  if (source === undefined || !(await hasRelation(session, COMUNI))) return new Map();
  const list = currentFiles(files, source, { region: 0, layer: tableOf(COMUNI), register: new Map() });
  const rows = await session.query<{ belfiore: string; region: number }>(statementsOf('workspace')('listed_regions'), [list.files.map(({ file }) => file.fileId)]);
  return new Map(rows.map(({ belfiore, region }) => [belfiore, region]));
}
