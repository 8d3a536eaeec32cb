-- purpose: incomes are of the newest tax year of each comune and level
-- reads: core.declared_income
-- writes: none
-- grain: comments only
-- crs: none

comment on table core.declared_income is 'Personal income tax returns (MEF), of each comune the newest tax year by comune and the newest by postal code; one partition per region. Individual gross income of taxpayers, not of households';
comment on column core.declared_income.tax_year is 'Year in which the income was earned: for the whole comune the newest published of it, for its postal codes the newest published by them';
