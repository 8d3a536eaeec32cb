/** Section economics: declared incomes in a parcel's comune or postal code, and prices of dwellings. */
import { z } from 'zod';
import { presence, quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const count = nullable(whole.min(0), 'Null: withheld or not published');
const money = nullable(z.number(), 'Euro; null: withheld');

const economics = z.strictObject({
  average_income: nullable(z.number(), 'total_income divided by earners, euro; null: withheld'),
  taxpayers: count,
  earners: nullable(whole.min(0), 'Taxpayers who declare an income; before 2023, the sum of the brackets; null: withheld'),
  total_income: money,
  net_tax: money,
  tax_year: whole.describe('Year in which the income was earned: the newest year published for the comune at this level'),
  gini_index: nullable(z.number().min(0).max(1), 'Null: withheld'),
  affordability_index: nullable(z.number(), 'Years of average income that a dwelling of affordability_apt_size_m2 costs; null: no price or no income'),
  affordability_apt_size_m2: whole.describe('Size of the dwelling used for affordability_index'),
  avg_residential_price_m2: money,
  income_brackets: z.strictObject({
    lte_zero: count, from_0_to_10k: count, from_10k_to_15k: count, from_15k_to_26k: count, from_26k_to_55k: count, from_55k_to_75k: count,
    from_75k_to_120k: count, over_120k: count,
  }).describe('Taxpayers'),
  level: z.enum(['cap', 'comune']).describe('Area to which the numbers refer'),
  source,
}).meta({ id: 'Economics', description: 'Declared incomes' });

export default defineSection({
  name: 'economics',
  position: 70,
  title: 'Declared incomes',
  block: nullable(economics, 'Null: no data'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.economics': {
      description: "Key of a parcel's incomes in core.declared_income, and the price of dwellings in the parcel's OMI zone. No row: no incomes are published for the comune, or the parcel is a road or water",
      key: ['fid'],
      columns: {
        fid: FID,
        belfiore: { type: 'text', description: 'Cadastral code of the comune' },
        cap: { type: 'text', description: "Postal code of the parcel's incomes (level cap)", null: 'the incomes are of the complete comune (level comune)', gate: presence() },
        avg_residential_price_m2: {
          type: 'float8',
          description: "Mean of (minimum + maximum) / 2 of the prices of residential types (1, 19, 20, 21, 22) in the parcel's OMI zone, in their prevalent state, 2 decimals",
          unit: '€/m²', null: 'none quoted', gate: quantity({ within: [1, 100_000] }),
        },
      },
    },
  },
  brief: true,
  flat: {
    average_income_eur: { type: 'float8', of: 'average_income' }, taxpayers: { type: 'int4' }, earners: { type: 'int4' },
    total_income_eur: { type: 'float8', of: 'total_income' }, net_tax_eur: { type: 'float8', of: 'net_tax' }, tax_year: { type: 'int4' },
    gini_index: { type: 'float8' }, affordability_index: { type: 'float8' },
    avg_residential_price_eur_m2: { type: 'float8', of: 'avg_residential_price_m2' },
    brackets_lte_zero: { type: 'int4', of: 'income_brackets.lte_zero' },
    brackets_from_0_to_10k: { type: 'int4', of: 'income_brackets.from_0_to_10k' },
    brackets_from_10k_to_15k: { type: 'int4', of: 'income_brackets.from_10k_to_15k' },
    brackets_from_15k_to_26k: { type: 'int4', of: 'income_brackets.from_15k_to_26k' },
    brackets_from_26k_to_55k: { type: 'int4', of: 'income_brackets.from_26k_to_55k' },
    brackets_from_55k_to_75k: { type: 'int4', of: 'income_brackets.from_55k_to_75k' },
    brackets_from_75k_to_120k: { type: 'int4', of: 'income_brackets.from_75k_to_120k' },
    brackets_over_120k: { type: 'int4', of: 'income_brackets.over_120k' },
    level: { type: 'text' },
  },
});
