-- purpose: peak ground acceleration at the nodes of a regular grid
-- reads: none
-- writes: layer.pga_node
-- grain: one row per node
-- crs: none; a node is at (ix · spacing_deg, iy · spacing_deg), longitude and latitude in degrees of ED50, EPSG:4230

create table layer.pga_node (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ix int4 not null,
  iy int4 not null,
  lon float8 not null,
  lat float8 not null,
  ag_g float8 not null,
  spacing_deg float8 not null
) partition by list (release_id);

comment on table layer.pga_node is 'MPS04: peak ground acceleration with 10 % probability of being exceeded in 50 years, on rock (Vs30 > 800 m/s), median. Sardinia and the small islands are not covered: a missing node there says nothing.';
comment on column layer.pga_node.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.pga_node.member_id is 'Member that the row was read from (ledger.member): the file.';
comment on column layer.pga_node.position is 'Line of the file; the header is line 1.';
comment on column layer.pga_node.ix is 'Column of the node: round(lon / spacing_deg).';
comment on column layer.pga_node.iy is 'Row of the node: round(lat / spacing_deg).';
comment on column layer.pga_node.lon is 'Longitude, degrees of ED50 (EPSG:4230), as published.';
comment on column layer.pga_node.lat is 'Latitude, degrees of ED50 (EPSG:4230), as published.';
comment on column layer.pga_node.ag_g is 'Acceleration in g.';
comment on column layer.pga_node.spacing_deg is 'Step of the grid in degrees, the same in the whole file: 0.02, or 0.05 in the coarser grid.';
