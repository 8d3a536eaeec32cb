import { yearsSince, type Download } from '../../pipelines/contract/download.ts';

export default {
  // The boundaries of 1 January are published in spring.
  cycle: ['04-15'],
  // Estimate, because the size is unknown: generalised boundaries of 7,900 comuni, 3 kB each.
  largest: 25_000_000,
  files: (_region, today) => {
    const [newest, before] = yearsSince(today, 3);
    const edition = (year: number) => ({ path: `${year}/Limiti0101${year}_g.zip`, name: `Limiti0101${year}_g.zip` });
    return [{ base: 'https://www.istat.it/storage/cartografia/confini_amministrativi/generalizzati/', editions: [edition(newest), edition(before)] }];
  },
} satisfies Download;
