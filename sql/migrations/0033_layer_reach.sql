-- purpose: how far the layers reach that an earlier version loaded; later ones are made by load.sql
-- reads: core.region_box, layer.flood_hazard_piece, layer.flood_coverage, layer.landslide_hazard, layer.landslide_hazard_piece, layer.shoreline_segment, layer.egms_cell, ledger.release, ledger.member, ledger.file
-- writes: layer.landslide_coverage, layer.shoreline_coverage, layer.egms_tile
-- grain: as layer.sql of the sources says
-- crs: EPSG:4326

-- A new database has no layers yet. What is made here is what layer.sql says.
do $$
declare
  v_release int4;
begin
  if to_regclass('layer.flood_coverage') is not null then
    alter table layer.flood_coverage add column regions int2[];
    update layer.flood_coverage as coverage set regions = array(
      select box.region_code
      from core.region_box as box
      where exists (
        select
        from layer.flood_hazard_piece as piece
        where piece.release_id = coverage.release_id
          and piece.member_id = coverage.member_id
          and piece.class = coverage.class
          and st_intersects(piece.geom, box.geom)
      )
      order by box.region_code
    );
    alter table layer.flood_coverage alter column regions set not null;
  end if;
  if to_regclass('layer.landslide_hazard') is not null then
    create table layer.landslide_coverage (
      release_id int4 not null,
      member_id int4 not null,
      position int8 not null,
      regions int2[] not null
    ) partition by list (release_id);
    for v_release in select release_id from ledger.release where source_id = 'ispra_landslide' and state = 'loaded' loop
      execute format('create table layer.landslide_coverage_%s partition of layer.landslide_coverage for values in (%s)', v_release, v_release);
    end loop;
    insert into layer.landslide_coverage (release_id, member_id, position, regions)
    select
      held.release_id,
      held.member_id,
      held.position,
      array(
        select box.region_code
        from core.region_box as box
        where exists (
          select
          from layer.landslide_hazard_piece as piece
          where piece.release_id = held.release_id
            and piece.member_id = held.member_id
            and st_intersects(piece.geom, box.geom)
        )
        order by box.region_code
      )
    from (
      select
        release_id,
        member_id,
        min(position) as position
      from layer.landslide_hazard
      group by release_id, member_id
    ) as held;
  end if;
  if to_regclass('layer.shoreline_segment') is not null then
    create table layer.shoreline_coverage (
      release_id int4 not null,
      member_id int4 not null,
      position int8 not null,
      regions int2[] not null
    ) partition by list (release_id);
    for v_release in select release_id from ledger.release where source_id = 'ispra_shoreline' and state = 'loaded' loop
      execute format('create table layer.shoreline_coverage_%s partition of layer.shoreline_coverage for values in (%s)', v_release, v_release);
    end loop;
    insert into layer.shoreline_coverage (release_id, member_id, position, regions)
    select
      held.release_id,
      held.member_id,
      held.position,
      array(
        select box.region_code
        from core.region_box as box
        where exists (
          select
          from layer.shoreline_segment as segment
          where segment.release_id = held.release_id
            and segment.member_id = held.member_id
            and st_intersects(segment.geom, box.geom)
        )
        order by box.region_code
      )
    from (
      select
        release_id,
        member_id,
        min(position) as position
      from layer.shoreline_segment
      group by release_id, member_id
    ) as held;
  end if;
  if to_regclass('layer.egms_cell') is not null then
    create table layer.egms_tile (
      release_id int4 not null,
      member_id int4 not null,
      position int8 not null,
      tile_x int4 not null,
      tile_y int4 not null
    ) partition by list (release_id);
    for v_release in select release_id from ledger.release where source_id = 'egms_vertical' and state = 'loaded' loop
      execute format('create table layer.egms_tile_%s partition of layer.egms_tile for values in (%s)', v_release, v_release);
    end loop;
    insert into layer.egms_tile (release_id, member_id, position, tile_x, tile_y)
    with named as (
      select
        member.release_id,
        member.member_id,
        regexp_match(member.path || ' ' || file.name, 'EGMS_L3_E([0-9]{2})N([0-9]{2})_100km', 'i') as place
      from ledger.release
      join ledger.member using (release_id)
      join ledger.file using (file_id)
      where release.source_id = 'egms_vertical'
        and release.state = 'loaded'
    )
    select
      release_id,
      member_id,
      1,
      place[1]::int4,
      place[2]::int4
    from named
    where place is not null
    union all
    select
      cell.release_id,
      cell.member_id,
      min(cell.position),
      cell.ix / 1000,
      cell.iy / 1000
    from layer.egms_cell as cell
    join named using (release_id, member_id)
    where named.place is null
    group by cell.release_id, cell.member_id, cell.ix / 1000, cell.iy / 1000;
  end if;
end
$$;
