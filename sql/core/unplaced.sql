-- purpose: points without a location, each with the reason
-- version: 1
-- reads: core.point_of_interest
-- writes: section.unplaced
-- incremental: content
-- grain: one row per point
-- crs: none

create table unplaced as
select
  region_code,
  id,
  category,
  name,
  address,
  locality,
  province,
  belfiore,
  reason,
  release_id,
  member_id,
  position
from point_of_interest
where reason is not null
order by id collate "C";

alter table unplaced add primary key (region_code, id);
alter table unplaced alter column category set not null;
alter table unplaced alter column name set not null;
alter table unplaced alter column reason set not null;
alter table unplaced alter column release_id set not null;
alter table unplaced alter column member_id set not null;
alter table unplaced alter column position set not null;
