-- purpose: the region of a comune, given by an ISTAT code of any year
-- reads: none
-- writes: core.region_of_istat_code
-- grain: one call per code
-- crs: none

-- The original province codes are in the order of the regions, and later codes were assigned one by one. Metropolitan cities have the codes 2xx. Sardinia's
-- provinces of 2026 have the codes 112–119 and 3xx. Source: ISTAT, Codici delle unità territoriali sovracomunali.
create or replace function core.region_of_istat_code(p_code text) returns int2
language sql immutable parallel safe
as $$
  select region::int2
  from (
    values
      (1, 6, 1), (7, 7, 2), (8, 11, 7), (12, 20, 3), (21, 22, 4), (23, 29, 5), (30, 32, 6), (33, 40, 8), (41, 44, 11), (45, 53, 9), (54, 55, 10), (56, 60, 12),
      (61, 65, 15), (66, 69, 13), (70, 70, 14), (71, 75, 16), (76, 77, 17), (78, 80, 18), (81, 89, 19), (90, 92, 20), (93, 93, 6), (94, 94, 14), (95, 95, 20),
      (96, 96, 1), (97, 98, 3), (99, 99, 8), (100, 100, 9), (101, 102, 18), (103, 103, 1), (104, 107, 20), (108, 108, 3), (109, 109, 11), (110, 110, 16),
      (111, 119, 20), (201, 201, 1), (210, 210, 7), (215, 215, 3), (227, 227, 5), (237, 237, 8), (248, 248, 9), (258, 258, 12), (263, 263, 15),
      (272, 272, 16), (280, 280, 18), (282, 283, 19), (287, 287, 19), (292, 292, 20), (312, 318, 20)
  ) as span (first, last, region)
  where p_code ~ '^[0-9]{6}$'
    and left(p_code, 3)::int4 between first and last
$$;
comment on function core.region_of_istat_code(text) is 'Returns the ISTAT code of the region for a comune''s ISTAT code (6 digits) of any year. The first three digits identify the province. Null if there is no such province';
