/** Runs a year of nights on an empty database. The first night is the first load. */
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { planOf, Scene, type Expectation, type Kind } from './kinds.ts';
import { incomeOf, highestPrice } from './files.ts';
import { runNight, type Night } from './night.ts';
import { Observer, type Facts } from './observe.ts';
import { World } from './world.ts';

export interface YearOptions {
  readonly nights: number;
  readonly seed: number;
  readonly parcels: number;
  /** Start of the first night, in milliseconds since 1970. */
  readonly start: number;
  /** Group whose kinds of night run once each; null for the nights of a year. */
  readonly group: string | null;
  /** URL of an empty database. */
  readonly databaseUrl: string;
  /** Working folder of the year, whose content is removed first. */
  readonly folder: string;
  /** Called with the result of each night. */
  readonly report: (night: Night) => void;
}

const DAY_MS = 86_400_000;

const FIRST: Kind = { name: 'first load', group: 'change', act: async (): Promise<Expectation> => ({ published: true, exits: [0] }) };

export async function runYear({ nights, seed, parcels, start, group, databaseUrl, folder, report }: YearOptions): Promise<readonly Night[]> {
  const world = await World.start(folder, databaseUrl, { parcels, seed, start });
  try {
    const income = await firstIncome(world);
    const empty: Facts = { stations: {}, civics: [], parcels: 0, income: 0, price: 0 };
    const random = randomOf('nights', seed);
    const scene = new Scene(world, random, empty);
    await world.must(['migrate']);
    const observer = await Observer.open(databaseUrl);
    try {
      await observer.refuseUnknownMoments();
      return await nightsOf(scene, observer, { nights, start, group, report, income });
    } finally {
      await observer.close();
    }
  } finally {
    await world.close();
  }
}

async function nightsOf(scene: Scene, observer: Observer, { nights, start, group, report, income }: Pick<YearOptions, 'nights' | 'start' | 'group' | 'report'> & { readonly income: number }): Promise<Night[]> {
  const done: Night[] = [];
  const end = (night: Night): void => {
    done.push(night);
    report(night);
  };
  scene.night = 1;
  const price = highestPrice(await scene.firstPrices());
  // Reads the number of parcels of the first load from the database. Later nights change this number by a known difference.
  const first = await runNight(scene, observer, FIRST, async () => ({ stations: {}, civics: [], income, price, parcels: (await observer.facts()).parcels }));
  const parcels = scene.files.parcels;
  end(first);
  const plan = planOf({ nights: nights - 1, first: start + DAY_MS, random: scene.random, parcels: () => parcels, group });
  let before: Kind = FIRST;
  for (const kind of plan) {
    scene.night += 1;
    scene.world.now += DAY_MS;
    await observer.daysGoBy(1);
    await before.undo?.(scene);
    end(await runNight(scene, observer, kind));
    before = kind;
  }
  return done;
}

async function firstIncome(world: World): Promise<number> {
  return incomeOf(await world.entryOf(world.truthOf('incomes')));
}
