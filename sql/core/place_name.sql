-- purpose: the names of all comuni and provinces of Italy for the address search
-- version: 2
-- reads: layer.comune_code, layer.comune_suppressed
-- writes: core.place_name
-- scope: italy
-- grain: one row per key, kind and place
-- crs: none

-- Provinces since 1945, by the first three digits of ISTAT codes. Each car plate code and each name of a province has a row. Sources: ISTAT, "Codici statistici
-- delle unità amministrative territoriali" (codes); D.P.R. 495/1992 and its amendments (plates); L.R. Sardegna 9/2001, 2/2016 and 7/2021 (provinces of
-- Sardinia). FO became FC and PS became PU in 1999; Apuania is now Massa-Carrara. The Agenzia delle Entrate writes MD for Medio Campidano.
create table plate as
select
  code,
  abbreviation,
  name
from (
  values
    ('001', 'TO', 'Torino'),
    ('002', 'VC', 'Vercelli'),
    ('003', 'NO', 'Novara'),
    ('004', 'CN', 'Cuneo'),
    ('005', 'AT', 'Asti'),
    ('006', 'AL', 'Alessandria'),
    ('007', 'AO', 'Valle d''Aosta/Vallée d''Aoste'),
    ('008', 'IM', 'Imperia'),
    ('009', 'SV', 'Savona'),
    ('010', 'GE', 'Genova'),
    ('011', 'SP', 'La Spezia'),
    ('012', 'VA', 'Varese'),
    ('013', 'CO', 'Como'),
    ('014', 'SO', 'Sondrio'),
    ('015', 'MI', 'Milano'),
    ('016', 'BG', 'Bergamo'),
    ('017', 'BS', 'Brescia'),
    ('018', 'PV', 'Pavia'),
    ('019', 'CR', 'Cremona'),
    ('020', 'MN', 'Mantova'),
    ('021', 'BZ', 'Bolzano/Bozen'),
    ('022', 'TN', 'Trento'),
    ('023', 'VR', 'Verona'),
    ('024', 'VI', 'Vicenza'),
    ('025', 'BL', 'Belluno'),
    ('026', 'TV', 'Treviso'),
    ('027', 'VE', 'Venezia'),
    ('028', 'PD', 'Padova'),
    ('029', 'RO', 'Rovigo'),
    ('030', 'UD', 'Udine'),
    ('031', 'GO', 'Gorizia'),
    ('032', 'TS', 'Trieste'),
    ('033', 'PC', 'Piacenza'),
    ('034', 'PR', 'Parma'),
    ('035', 'RE', 'Reggio nell''Emilia'),
    ('036', 'MO', 'Modena'),
    ('037', 'BO', 'Bologna'),
    ('038', 'FE', 'Ferrara'),
    ('039', 'RA', 'Ravenna'),
    ('040', 'FC', 'Forlì-Cesena'),
    ('040', 'FO', 'Forlì'),
    ('041', 'PU', 'Pesaro e Urbino'),
    ('041', 'PS', 'Pesaro e Urbino'),
    ('042', 'AN', 'Ancona'),
    ('043', 'MC', 'Macerata'),
    ('044', 'AP', 'Ascoli Piceno'),
    ('045', 'MS', 'Massa-Carrara'),
    ('045', 'AU', 'Apuania'),
    ('046', 'LU', 'Lucca'),
    ('047', 'PT', 'Pistoia'),
    ('048', 'FI', 'Firenze'),
    ('049', 'LI', 'Livorno'),
    ('050', 'PI', 'Pisa'),
    ('051', 'AR', 'Arezzo'),
    ('052', 'SI', 'Siena'),
    ('053', 'GR', 'Grosseto'),
    ('054', 'PG', 'Perugia'),
    ('055', 'TR', 'Terni'),
    ('056', 'VT', 'Viterbo'),
    ('057', 'RI', 'Rieti'),
    ('058', 'RM', 'Roma'),
    ('059', 'LT', 'Latina'),
    ('060', 'FR', 'Frosinone'),
    ('061', 'CE', 'Caserta'),
    ('062', 'BN', 'Benevento'),
    ('063', 'NA', 'Napoli'),
    ('064', 'AV', 'Avellino'),
    ('065', 'SA', 'Salerno'),
    ('066', 'AQ', 'L''Aquila'),
    ('067', 'TE', 'Teramo'),
    ('068', 'PE', 'Pescara'),
    ('069', 'CH', 'Chieti'),
    ('070', 'CB', 'Campobasso'),
    ('071', 'FG', 'Foggia'),
    ('072', 'BA', 'Bari'),
    ('073', 'TA', 'Taranto'),
    ('074', 'BR', 'Brindisi'),
    ('075', 'LE', 'Lecce'),
    ('076', 'PZ', 'Potenza'),
    ('077', 'MT', 'Matera'),
    ('078', 'CS', 'Cosenza'),
    ('079', 'CZ', 'Catanzaro'),
    ('080', 'RC', 'Reggio Calabria'),
    ('081', 'TP', 'Trapani'),
    ('082', 'PA', 'Palermo'),
    ('083', 'ME', 'Messina'),
    ('084', 'AG', 'Agrigento'),
    ('085', 'CL', 'Caltanissetta'),
    ('086', 'EN', 'Enna'),
    ('087', 'CT', 'Catania'),
    ('088', 'RG', 'Ragusa'),
    ('089', 'SR', 'Siracusa'),
    ('090', 'SS', 'Sassari'),
    ('091', 'NU', 'Nuoro'),
    ('092', 'CA', 'Cagliari'),
    ('093', 'PN', 'Pordenone'),
    ('094', 'IS', 'Isernia'),
    ('095', 'OR', 'Oristano'),
    ('096', 'BI', 'Biella'),
    ('097', 'LC', 'Lecco'),
    ('098', 'LO', 'Lodi'),
    ('099', 'RN', 'Rimini'),
    ('100', 'PO', 'Prato'),
    ('101', 'KR', 'Crotone'),
    ('102', 'VV', 'Vibo Valentia'),
    ('103', 'VB', 'Verbano-Cusio-Ossola'),
    ('104', 'OT', 'Olbia-Tempio'),
    ('104', 'OT', 'Gallura Nord-Est Sardegna'),
    ('105', 'OG', 'Ogliastra'),
    ('106', 'VS', 'Medio Campidano'),
    ('106', 'MD', 'Medio Campidano'),
    ('107', 'CI', 'Carbonia-Iglesias'),
    ('107', 'CI', 'Sulcis Iglesiente'),
    ('108', 'MB', 'Monza e della Brianza'),
    ('109', 'FM', 'Fermo'),
    ('110', 'BT', 'Barletta-Andria-Trani'),
    ('111', 'SU', 'Sud Sardegna')
) as p (code, abbreviation, name);

-- Provinces founded in 1992, and the former provinces of their comuni. The oldest column of the list of comuni (1995) already has the new provinces.
-- Source: legislative decrees 248–254/1992 (Biella, Crotone, Lecco, Lodi, Rimini, Vibo Valentia, Prato) and 277/1992 (Verbania).
create table founded as
select
  code,
  parent_code
from (
  values
    ('096', '002'),
    ('097', '013'),
    ('097', '016'),
    ('098', '015'),
    ('099', '040'),
    ('100', '048'),
    ('101', '079'),
    ('102', '079'),
    ('103', '003')
) as f (code, parent_code);

-- Names of cities in other languages, with the ISO 639-1 codes of the languages. The names are common knowledge, and not copied from a published list. Names
-- that are often the last word of an Italian street name (Luca, Tori) are left out.
create table foreign_name as
select
  city,
  name,
  languages
from (
  values
    ('Roma', 'Rome', 'en fr nl'),
    ('Roma', 'Rom', 'de da sv'),
    ('Roma', 'Řím', 'cs'),
    ('Roma', 'Rzym', 'pl'),
    ('Roma', 'Rim', 'hr sl'),
    ('Roma', 'Rooma', 'fi et'),
    ('Milano', 'Milan', 'en fr'),
    ('Milano', 'Mailand', 'de'),
    ('Milano', 'Milán', 'es'),
    ('Milano', 'Milão', 'pt'),
    ('Milano', 'Milaan', 'nl'),
    ('Milano', 'Mediolan', 'pl'),
    ('Napoli', 'Naples', 'en fr'),
    ('Napoli', 'Neapel', 'de sv'),
    ('Napoli', 'Nápoles', 'es pt'),
    ('Napoli', 'Napels', 'nl'),
    ('Napoli', 'Nàpols', 'ca'),
    ('Napoli', 'Neapol', 'pl cs'),
    ('Napoli', 'Napulj', 'hr'),
    ('Napoli', 'Neapelj', 'sl'),
    ('Napoli', 'Nápoly', 'hu'),
    ('Torino', 'Turin', 'en fr de'),
    ('Torino', 'Turín', 'es'),
    ('Torino', 'Turim', 'pt'),
    ('Torino', 'Turijn', 'nl'),
    ('Torino', 'Turyn', 'pl'),
    ('Firenze', 'Florence', 'en fr nl'),
    ('Firenze', 'Florenz', 'de'),
    ('Firenze', 'Florencia', 'es'),
    ('Firenze', 'Florença', 'pt'),
    ('Firenze', 'Florència', 'ca'),
    ('Firenze', 'Florencja', 'pl'),
    ('Firenze', 'Florencie', 'cs'),
    ('Firenze', 'Firenca', 'hr'),
    ('Firenze', 'Florența', 'ro'),
    ('Firenze', 'Floransa', 'tr'),
    ('Venezia', 'Venice', 'en'),
    ('Venezia', 'Venedig', 'de da sv'),
    ('Venezia', 'Venise', 'fr'),
    ('Venezia', 'Venecia', 'es'),
    ('Venezia', 'Veneza', 'pt'),
    ('Venezia', 'Venetië', 'nl'),
    ('Venezia', 'Wenecja', 'pl'),
    ('Venezia', 'Benátky', 'cs'),
    ('Venezia', 'Venecija', 'hr'),
    ('Venezia', 'Benetke', 'sl'),
    ('Venezia', 'Velence', 'hu'),
    ('Venezia', 'Veneția', 'ro'),
    ('Venezia', 'Venetsia', 'fi'),
    ('Venezia', 'Venedik', 'tr'),
    ('Genova', 'Genoa', 'en'),
    ('Genova', 'Genua', 'de nl pl'),
    ('Genova', 'Gênes', 'fr'),
    ('Genova', 'Janov', 'cs'),
    ('Genova', 'Cenova', 'tr'),
    ('Bologna', 'Bologne', 'fr'),
    ('Bologna', 'Bolonia', 'es pl'),
    ('Bologna', 'Bolonha', 'pt'),
    ('Bologna', 'Bolonya', 'ca'),
    ('Padova', 'Padua', 'en de es pt'),
    ('Padova', 'Padoue', 'fr'),
    ('Padova', 'Padwa', 'pl'),
    ('Siracusa', 'Syracuse', 'en fr'),
    ('Siracusa', 'Syrakus', 'de'),
    ('Siracusa', 'Syrakuzy', 'pl'),
    ('Mantova', 'Mantua', 'en de es'),
    ('Mantova', 'Mantoue', 'fr'),
    ('Livorno', 'Leghorn', 'en'),
    ('Livorno', 'Livourne', 'fr'),
    ('Livorno', 'Liorna', 'es'),
    ('Trieste', 'Triest', 'de nl'),
    ('Trieste', 'Trst', 'hr sl'),
    ('Trieste', 'Trieszt', 'hu'),
    ('Gorizia', 'Görz', 'de'),
    ('Gorizia', 'Gorica', 'hr sl'),
    ('Udine', 'Videm', 'sl'),
    ('Monfalcone', 'Tržič', 'sl'),
    ('Tarvisio', 'Tarvis', 'de'),
    ('Tarvisio', 'Trbiž', 'sl'),
    ('Cividale del Friuli', 'Čedad', 'sl'),
    ('Trento', 'Trent', 'en'),
    ('Trento', 'Trient', 'de'),
    ('Trento', 'Trente', 'fr'),
    ('Rovereto', 'Rofreit', 'de'),
    ('Verona', 'Vérone', 'fr'),
    ('Verona', 'Werona', 'pl'),
    ('Vicenza', 'Vicence', 'fr'),
    ('Treviso', 'Trévise', 'fr'),
    ('Bergamo', 'Bergame', 'fr'),
    ('Como', 'Côme', 'fr'),
    ('Pavia', 'Pavie', 'fr'),
    ('Cremona', 'Crémone', 'fr'),
    ('Alessandria', 'Alexandrie', 'fr'),
    ('Cuneo', 'Coni', 'fr'),
    ('Novara', 'Novare', 'fr'),
    ('Vercelli', 'Verceil', 'fr'),
    ('Ivrea', 'Ivrée', 'fr'),
    ('Aosta', 'Aoste', 'fr'),
    ('Susa', 'Suse', 'fr'),
    ('Pinerolo', 'Pignerol', 'fr'),
    ('Saluzzo', 'Saluces', 'fr'),
    ('Ventimiglia', 'Vintimille', 'fr'),
    ('Sanremo', 'San Remo', 'en de fr'),
    ('Savona', 'Savone', 'fr'),
    ('Parma', 'Parme', 'fr'),
    ('Piacenza', 'Plaisance', 'fr'),
    ('Modena', 'Modène', 'fr'),
    ('Ferrara', 'Ferrare', 'fr'),
    ('Ravenna', 'Ravenne', 'fr'),
    ('Ravenna', 'Rávena', 'es'),
    ('Ravenna', 'Rawenna', 'pl'),
    ('Lucca', 'Lucques', 'fr'),
    ('Pisa', 'Pise', 'fr'),
    ('Siena', 'Sienna', 'en'),
    ('Siena', 'Sienne', 'fr'),
    ('Pistoia', 'Pistoie', 'fr'),
    ('Carrara', 'Carrare', 'fr'),
    ('Perugia', 'Pérouse', 'fr'),
    ('Perugia', 'Perusa', 'es'),
    ('Assisi', 'Assise', 'fr'),
    ('Assisi', 'Asís', 'es'),
    ('Assisi', 'Asyż', 'pl'),
    ('Spoleto', 'Spolète', 'fr'),
    ('Ancona', 'Ancône', 'fr'),
    ('Urbino', 'Urbin', 'fr'),
    ('Loreto', 'Lorette', 'fr'),
    ('Viterbo', 'Viterbe', 'fr'),
    ('Gaeta', 'Gaète', 'fr'),
    ('Caserta', 'Caserte', 'fr'),
    ('Capua', 'Capoue', 'fr'),
    ('Benevento', 'Bénévent', 'fr'),
    ('Pozzuoli', 'Pouzzoles', 'fr'),
    ('Ercolano', 'Herculaneum', 'en de nl'),
    ('Ercolano', 'Herculanum', 'fr'),
    ('Pompei', 'Pompeii', 'en nl'),
    ('Pompei', 'Pompeji', 'de'),
    ('Pompei', 'Pompeya', 'es'),
    ('Sorrento', 'Sorrente', 'fr'),
    ('Salerno', 'Salerne', 'fr'),
    ('Taranto', 'Tarent', 'de'),
    ('Taranto', 'Tarente', 'fr'),
    ('Taranto', 'Tarento', 'es'),
    ('Brindisi', 'Brindes', 'fr'),
    ('Otranto', 'Otrante', 'fr'),
    ('Crotone', 'Croton', 'en'),
    ('Palermo', 'Palerme', 'fr'),
    ('Messina', 'Messine', 'fr'),
    ('Messina', 'Mesina', 'es'),
    ('Catania', 'Catane', 'fr'),
    ('Agrigento', 'Agrigente', 'fr'),
    ('Cagliari', 'Càller', 'ca'),
    ('Cagliari', 'Cáller', 'es'),
    ('Alghero', 'L''Alguer', 'ca')
) as n (city, name, languages);

create table known_code as
select distinct
  c.belfiore,
  n.code
from comune_code c
cross join lateral (
  values (c.istat_code), (c.code_107_2017), (c.code_110), (c.code_107), (c.code_103)
) as n (code)
where n.code is not null;

-- serves: the comune of a code
create index on known_code (code);
analyze known_code;

-- Suppressed comuni, with the comuni that now have their territory. A successor may also have been suppressed later. The parts of a divided comune do not get
-- the divided comune's province.
create table heir as
with recursive way as (
  select
    istat_code,
    successor_istat_code as code,
    event_date,
    divided
  from comune_suppressed
  where successor_istat_code is not null
  union
  select
    w.istat_code,
    x.successor_istat_code,
    x.event_date,
    w.divided or x.divided
  from way w
  join comune_suppressed x
    on x.istat_code = w.code
    and x.event_date >= w.event_date
  where x.successor_istat_code is not null
    and not exists (select from known_code k where k.code = w.code)
)
select
  k.belfiore,
  w.istat_code,
  bool_or(w.divided) over (partition by w.istat_code)
    or min(k.belfiore) over (partition by w.istat_code) <> max(k.belfiore) over (partition by w.istat_code) as divided
from way w
join known_code k on k.code = w.code;

-- All current and former provinces of a comune, including the provinces of former comuni that are now part of the comune.
create table past_province as
with coded as (
  select belfiore, left(code, 3) as code
  from known_code
  union
  select belfiore, left(istat_code, 3)
  from heir
  where not divided
),
oldest as (
  select belfiore, left(coalesce(code_103, code_107, code_110, code_107_2017, istat_code), 3) as code
  from comune_code
  union
  select belfiore, left(istat_code, 3)
  from heir
  where not divided
)
select belfiore, code
from coded
union
select o.belfiore, f.parent_code
from oldest o
join founded f on f.code = o.code;

create table place_name as
with italian as (
  select core.comune_key(name) as key, 'name' as kind, belfiore as code
  from comune_code
  union
  select core.comune_key(o.name), 'second', c.belfiore
  from comune_code c
  cross join lateral unnest(string_to_array(c.name_other, '/')) as o (name)
  union
  -- Uses the code of the current comune, or the former code if no current comune is known. The row prevents the assignment of the name to a different place.
  select core.comune_key(x.name), 'former', coalesce(h.belfiore, x.istat_code)
  from comune_suppressed x
  left join heir h on h.istat_code = x.istat_code
  union
  -- A place with names in two languages, such as Bolzano/Bozen, gets a row for each name.
  select core.comune_key(n.name), 'province', c.province_code
  from comune_code c
  cross join lateral unnest(string_to_array(c.province_name, '/')) as n (name)
),
past as (
  select distinct
    k.key,
    p.belfiore
  from past_province p
  join plate s on s.code = p.code
  join comune_code c on c.belfiore = p.belfiore
  cross join lateral (
    select core.lower_case(s.abbreviation)
    union
    select core.comune_key(n.name)
    from unnest(string_to_array(s.name, '/')) as n (name)
  ) as k (key)
  where k.key <> core.lower_case(c.sigla)
    and k.key <> core.comune_key(c.province_name)
),
found as (
  select key, kind, code
  from italian
  union
  select key, 'past_province', belfiore
  from past
  union
  -- A foreign name of a city is left out if a comune or province has this name in the lists of comuni.
  select f.key, 'foreign', min(c.belfiore)
  from (select city, core.comune_key(name) as key from foreign_name) f
  join comune_code c on c.name = f.city
  where not exists (select from italian i where i.key = f.key)
  group by f.key
  having count(distinct c.belfiore) = 1
)
select
  key,
  kind,
  code
from found
where key <> ''
order by key collate "C", kind, code;

alter table place_name add primary key (key, kind, code);
-- serves: correction of a mistyped name
create index on place_name using gin (key gin_trgm_ops);
-- serves: the earlier provinces of a comune
create index on place_name (code);
