/** Income tax returns by comune and postal code. */
import type { LayerColumns, Layers } from '../../pipelines/contract/source.ts';
import { BRACKET_NAMES, type Bracket } from './schema.ts';

/** Wording of each bracket of total income in the column descriptions. */
const INCOMES: Readonly<Record<Bracket, string>> = {
  lte_zero: 'of zero or less',
  from_0_to_10k: 'up to 10,000 euro',
  from_10k_to_15k: 'from 10,000 to 15,000 euro',
  from_15k_to_26k: 'from 15,000 to 26,000 euro',
  from_26k_to_55k: 'from 26,000 to 55,000 euro',
  from_55k_to_75k: 'from 55,000 to 75,000 euro',
  from_75k_to_120k: 'from 75,000 to 120,000 euro',
  over_120k: 'over 120,000 euro',
};

const BRACKET_COLUMNS: LayerColumns = Object.fromEntries(BRACKET_NAMES.flatMap((name) => [
  [`${name}_n`, ['int4', `Number of taxpayers with a total income ${INCOMES[name]}; null if withheld, 0 if there are none`]],
  [`${name}_eur`, ['int8', `Sum in euro of the total incomes ${INCOMES[name]}${name === 'lte_zero' ? ' (negative for losses)' : ''}; null if withheld`]],
]));

export const layers: Layers = {
  income: {
    description: 'MEF: personal income tax returns (IRPEF) of taxpayers, not households. Incomes are gross and individual',
    position: 'Line of the file, from 1.',
    columns: {
      tax_year: ['int2 not null', 'Year in which the income was earned'],
      level: ['text not null', 'Level of the row: comune, cap (postal code of a comune with several postal codes) or unplaced (taxpayers with a missing or wrong comune, only for reconciliation)'],
      belfiore: ['text', 'Cadastral code of the comune of fiscal domicile; null if unplaced'],
      istat_code: ['text', 'ISTAT code of the comune as published, 6 digits; null if unplaced'],
      cap: ['text', 'Postal code; null if the row is of the whole comune'],
      region_code: ['int2', 'ISTAT region code; null if unplaced'],
      taxpayers: ['int4', 'Number of taxpayers; null if withheld'],
      total_income_n: ['int4', 'Number of taxpayers with a total income; null if withheld, or before 2023, when no total is published'],
      total_income_eur: ['int8', 'Total income (reddito complessivo), euro; null if withheld or before 2023'],
      net_tax_n: ['int4', 'Number of taxpayers with a net tax; null if withheld'],
      net_tax_eur: ['int8', 'Net tax (imposta netta), euro; null if withheld'],
      ...BRACKET_COLUMNS,
    },
  },
};
