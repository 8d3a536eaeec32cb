-- purpose: figures of census sections are by ISTAT code
-- reads: ledger.figure
-- writes: none
-- grain: comments only
-- crs: none

comment on column ledger.figure.comune is 'Cadastral code of the comune, or its ISTAT code where the table has that; empty: the province as a whole';
