/** Reads the database after a night, with SQL that the program does not use. */
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { daysGoBy, refuseUnknownMoments } from './days.ts';
import { REGION } from './world.ts';

/** Content of the published region that nights change. Each night also computes the expected values of these facts from the served files. */
export interface Facts {
  /** Names of the fuel stations that simulated nights renamed, by id of the station. */
  readonly stations: Readonly<Record<string, string>>;
  /** House numbers that simulated nights wrote, sorted. */
  readonly civics: readonly number[];
  /** Number of parcels. */
  readonly parcels: number;
  /** Total income of the first comune, in euros. */
  readonly income: number;
  /** Highest purchase price of the first half of 2025, in euros per square metre. */
  readonly price: number;
}

export interface Size {
  readonly relations: number;
  readonly bytes: number;
  /** Total number of rows of ledger.run, ledger.publication and ledger.swap. */
  readonly ledgerRows: number;
}

/** Lowest house number that a simulated night writes. All house numbers of the synthetic region are lower. */
export const FIRST_CIVIC = 2_000;
/** First word of the names that a simulated night gives to fuel stations. */
export const NIGHT_NAME = 'NOTTE';

const FACTS = `
select
  (select coalesce(jsonb_object_agg(code, name), '{}') from core.point_of_interest where region_code = $1 and category = 'fuel' and name like '${NIGHT_NAME} %') as stations,
  (select coalesce(jsonb_agg(number order by number), '[]') from core.access_point where region_code = $1 and number >= ${FIRST_CIVIC}) as civics,
  (select count(*)::int4 from core.parcel where fid / 100000000 = $1) as parcels,
  (select coalesce(max(total_income_eur), 0)::float8 from core.declared_income where region_code = $1 and tax_year = 2024 and belfiore = 'Z001' and cap is null) as income,
  (select coalesce(max(purchase_max_eur_m2), 0)::float8 from core.quotation where region_code = $1 and half_year = 4050) as price`;

const PUBLICATION = "select publication_id::int4 as id from ledger.publication where unit_code = $1 and state = 'current'";

const SIZE = `
select
  (select count(*)::int4 from pg_class) as relations,
  pg_database_size(current_database())::float8 as bytes,
  ((select count(*) from ledger.run) + (select count(*) from ledger.publication) + (select count(*) from ledger.swap))::int4 as "ledgerRows"`;

const OPEN_STEP = 'select s.step from ledger.step s join ledger.run r using (run_id) where r.ended_at is null and s.ended_at is null and s.step = any ($1) limit 1';

export class Observer {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(url: string): Promise<Observer> {
    return new Observer(await openDatabase(url));
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async #one<T extends object>(sql: string, values: readonly unknown[] = []): Promise<T | null> {
    return (await this.#database.query<T & Record<string, unknown>>(sql, [...values]))[0] ?? null;
  }

  async facts(): Promise<Facts> {
    const facts = await this.#one<Facts>(FACTS, [REGION]);
    if (facts === null) throw new Error('expected the facts of a publication, the query returned no row');
    return facts;
  }

  /** Returns the id of the region's current publication, or null without a publication. */
  async publication(): Promise<number | null> {
    return (await this.#one<{ id: number }>(PUBLICATION, [REGION]))?.id ?? null;
  }

  async size(): Promise<Size> {
    const size = await this.#one<Size>(SIZE);
    if (size === null) throw new Error('expected the size of the database, the query returned no row');
    return size;
  }

  /** Returns whether an active run is in one of the given steps. */
  async isIn(steps: readonly string[]): Promise<boolean> {
    return (await this.#one(OPEN_STEP, [steps])) !== null;
  }

  refuseUnknownMoments(): Promise<void> {
    return refuseUnknownMoments(this.#database);
  }

  daysGoBy(days: number): Promise<void> {
    return daysGoBy(this.#database, days);
  }
}
