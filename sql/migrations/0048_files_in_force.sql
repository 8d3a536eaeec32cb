-- purpose: what is in force is decided file by file and comune by comune
-- reads: ledger.release, ledger.member, ledger.publication
-- writes: core.comune_found, ledger.file, ledger.file_place, ledger.publication_file, ledger.hold
-- grain: as each table says
-- crs: none

alter table ledger.file add column vintage text;
alter table ledger.file add column dated text;
alter table ledger.file add column region_code int2;
alter table ledger.file add column complete bool;
alter table ledger.file add column place text;
alter table ledger.file add column present bool not null default false;
alter table ledger.file add column arrived_run int4;
alter table ledger.file add column assigned_region_code int2;
alter table ledger.file add column forgotten_at timestamptz;
alter table ledger.file add column forgotten_reason text;
comment on column ledger.file.vintage is 'Vintage, sorts as text';
comment on column ledger.file.dated is 'Date inside the file (title line, newest entry of the zip, re-issue), sorts as text: of two files of one vintage the later is the newer; null: it has none';
comment on column ledger.file.region_code is 'ISTAT region code that its packaging says; null: all of Italy, or as its rows say';
comment on column ledger.file.complete is 'True when it is packaged as the whole of a region or of Italy: it supersedes all older ones; false: a part, which supersedes its own places only';
comment on column ledger.file.place is 'What it is a part of the map of, where files are tiles or single scenarios (E46N19); null: as its rows say';
comment on column ledger.file.present is 'True when the last run that looked found it in the data folders; false: it left them, and stays in force until it is superseded or forgotten';
comment on column ledger.file.arrived_run is 'Run that found it after it was not there: of files that are otherwise as new as one another, the later counts; null: before this was noted';
comment on column ledger.file.assigned_region_code is 'ISTAT region code that a person named for comuni of which nothing else says the region; null: nobody did';
comment on column ledger.file.forgotten_at is 'When a person took it out of force (mappale forget); null: nobody did';
comment on column ledger.file.forgotten_reason is 'Why, as the person said; null: not forgotten, or nothing was said';
update ledger.file f
set
  vintage = r.vintage,
  region_code = r.region_code,
  complete = r.complete,
  present = r.last_seen_run = (select max(last_seen_run) from ledger.release),
  arrived_run = r.last_seen_run
from ledger.release r
where r.release_id = f.release_id;
alter table ledger.file alter column vintage set not null;
alter table ledger.file alter column complete set not null;
alter table ledger.release drop column last_seen_run;

create table ledger.file_place (
  file_id int4 not null references ledger.file on delete cascade,
  layer text not null,
  series text not null,
  region_code int2,
  likely_region_code int2,
  dated text,
  named bool not null,
  places text[] not null,
  names text[]
);
comment on table ledger.file_place is 'What each file speaks of, layer by layer: comuni or other units by their codes; one row for those of which all else is the same';
comment on column ledger.file_place.file_id is 'File';
comment on column ledger.file_place.layer is 'Layer, without its schema';
comment on column ledger.file_place.series is 'Half-year, year or kind inside of which a newer file supersedes an older one; empty: the layer has one state';
comment on column ledger.file_place.region_code is 'ISTAT region code that the packaging inside the file says; null: that of the file, or as the rows say';
comment on column ledger.file_place.likely_region_code is 'ISTAT region code that the rows say, for comuni that the list in force lacks; null: they say none';
comment on column ledger.file_place.dated is 'Date of these rows where they have one of their own, sorts as text; null: that of the file';
comment on column ledger.file_place.named is 'False for comuni that stand in the file of another one by mistake: any file that is theirs goes before';
comment on column ledger.file_place.places is 'Codes of comuni or other units; one empty text where the layer knows none';
comment on column ledger.file_place.names is 'Names of the comuni as the packaging writes them, in the order of the codes; null: it names none';
-- serves: the places of a file
create index file_place_file_id_idx on ledger.file_place (file_id);

alter table ledger.member add column region_code int2;
comment on column ledger.member.region_code is 'ISTAT region code that the packaging inside the file says; null: it says none';
alter table ledger.member add column alone bool not null default true;
comment on column ledger.member.alone is 'False when a record of it was refused or counted as a repetition while it was loaded, which may hang on other members: such a member is not taken over by a later release';

create table ledger.publication_file (
  publication_id int4 not null references ledger.publication on delete cascade,
  file_id int4 not null references ledger.file on delete cascade,
  primary key (publication_id, file_id)
);
comment on table ledger.publication_file is 'Files in force of a publication';
comment on column ledger.publication_file.publication_id is 'Publication';
comment on column ledger.publication_file.file_id is 'File that is in force in it, wholly or in some of its places';

create table ledger.hold (
  unit_code int2 primary key,
  kind text not null check (kind in ('rolled_back', 'pinned', 'withdrawn')),
  fingerprint text,
  reason text,
  held_by text not null,
  held_at timestamptz not null default now()
);
comment on table ledger.hold is 'Regions (0: Italy) that a refresh leaves as they are';
comment on column ledger.hold.unit_code is 'ISTAT region code, 0: Italy';
comment on column ledger.hold.kind is 'rolled_back: until its inputs are other ones; pinned, withdrawn: until mappale unpin';
comment on column ledger.hold.fingerprint is 'Digest of what made the publication that was taken back: it is not published again; null: pinned or withdrawn';
comment on column ledger.hold.reason is 'Why, as the person said; null: nothing was said';
comment on column ledger.hold.held_by is 'Who, user@host';
comment on column ledger.hold.held_at is 'When';

create table core.comune_found (
  region_code int2 not null,
  belfiore text not null,
  name text,
  region_name text not null,
  listed_region_code int2,
  primary key (region_code, belfiore)
) partition by list (region_code);
comment on table core.comune_found is 'Comuni in a region''s files that the list of comuni in force lacks, or has in another region: they are published where their files have them; one partition per region';
comment on column core.comune_found.region_code is 'ISTAT region code of the files; the partition key';
comment on column core.comune_found.belfiore is 'Cadastral code of the comune';
comment on column core.comune_found.name is 'Name as the cadastre''s documents are called, in title case; null: no file names it';
comment on column core.comune_found.region_name is 'Name of the region of the files';
comment on column core.comune_found.listed_region_code is 'ISTAT region code in the list of comuni; null: the list lacks the comune, or none is loaded';
-- serves: the name of a parcel's comune
create index on core.comune_found (belfiore);
