/** Income tax returns by comune and postal code. */
import type { Layers } from '../../pipelines/contract/source.ts';

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
      lte_zero_n: ['int4', 'Number of taxpayers with a total income of zero or less; null if withheld, 0 if there are none'],
      lte_zero_eur: ['int8', 'Sum in euro of the total incomes of zero or less (negative for losses); null if withheld'],
      from_0_to_10k_n: ['int4', 'Number of taxpayers with a total income up to 10,000 euro; null if withheld, 0 if there are none'],
      from_0_to_10k_eur: ['int8', 'Sum in euro of the total incomes up to 10,000 euro; null if withheld'],
      from_10k_to_15k_n: ['int4', 'Number of taxpayers with a total income from 10,000 to 15,000 euro; null if withheld, 0 if there are none'],
      from_10k_to_15k_eur: ['int8', 'Sum in euro of the total incomes from 10,000 to 15,000 euro; null if withheld'],
      from_15k_to_26k_n: ['int4', 'Number of taxpayers with a total income from 15,000 to 26,000 euro; null if withheld, 0 if there are none'],
      from_15k_to_26k_eur: ['int8', 'Sum in euro of the total incomes from 15,000 to 26,000 euro; null if withheld'],
      from_26k_to_55k_n: ['int4', 'Number of taxpayers with a total income from 26,000 to 55,000 euro; null if withheld, 0 if there are none'],
      from_26k_to_55k_eur: ['int8', 'Sum in euro of the total incomes from 26,000 to 55,000 euro; null if withheld'],
      from_55k_to_75k_n: ['int4', 'Number of taxpayers with a total income from 55,000 to 75,000 euro; null if withheld, 0 if there are none'],
      from_55k_to_75k_eur: ['int8', 'Sum in euro of the total incomes from 55,000 to 75,000 euro; null if withheld'],
      from_75k_to_120k_n: ['int4', 'Number of taxpayers with a total income from 75,000 to 120,000 euro; null if withheld, 0 if there are none'],
      from_75k_to_120k_eur: ['int8', 'Sum in euro of the total incomes from 75,000 to 120,000 euro; null if withheld'],
      over_120k_n: ['int4', 'Number of taxpayers with a total income over 120,000 euro; null if withheld, 0 if there are none'],
      over_120k_eur: ['int8', 'Sum in euro of the total incomes over 120,000 euro; null if withheld'],
    },
  },
};
