-- purpose: earlier provinces of comuni and foreign names of cities among the names of places
-- reads: core.place_name
-- writes: none
-- grain: one row per key, kind and place
-- crs: none

comment on column core.place_name.kind is
  'name: a comune in Italian; second: in its second language; former: a suppressed comune; province; past_province: a comune that belonged to a province of this name or plate; foreign: a city in another language';
comment on column core.place_name.code is
  'Cadastral code; of a suppressed comune the code of the comune that has its territory, or its own ISTAT code (6 digits) where none is known; of a province its ISTAT code (UTS), 3 digits, text';
-- serves: the earlier provinces of a comune
create index on core.place_name (code);
