-- purpose: the names of all Italy's comuni and provinces, also of those that are not loaded; postal codes among the names of comuni
-- reads: core.comune_name
-- writes: core.place_name
-- grain: one row per key, kind and place
-- crs: none

create table core.place_name (
  key text not null,
  kind text not null,
  code text not null,
  primary key (key, kind, code)
);
comment on table core.place_name is
  'Names of the comuni and provinces of Italy, as ISTAT lists them, whether their region is loaded or not: what is called so is never taken for a place of another name; published as a whole';
comment on column core.place_name.key is 'Normalised name: core.comune_key';
comment on column core.place_name.kind is 'name: a comune in Italian; second: in its second language; former: a suppressed comune; province';
comment on column core.place_name.code is 'Cadastral code; of a suppressed comune its ISTAT code, 6 digits; of a province its ISTAT code (UTS), 3 digits, text';
-- serves: correction of a mistyped name
create index on core.place_name using gin (key gin_trgm_ops);

comment on column core.comune_name.key is 'Normalised name: core.comune_key; or a postal code';
comment on column core.comune_name.kind is
  'name: Italian; second: in the second language; former: a suppressed comune that is part of it; locality; postal_code: a CAP of the comune, as the operator supplied it';
