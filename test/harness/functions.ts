/** Creates the project's SQL functions or tables in a database that has no other part of the project. */
import { join } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { hasRelation } from '../../pipelines/db/ddl.ts';
import type { Session } from '../../pipelines/db/index.ts';
import { sectionTables } from '../../pipelines/db/section-tables.ts';
import { readSqlFile, readSqlFolder } from '../../pipelines/contract/sql-files.ts';

async function functions(session: Session): Promise<void> {
  await session.query('create schema if not exists core');
  // The functions call functions of other files, which may not exist yet.
  await session.query('set check_function_bodies to off');
  for (const { text, file } of readSqlFolder('sql/functions')) await session.script(text, file);
  await session.query('reset check_function_bodies');
}

/** Creates every function of `sql/functions`, and the table of the regions' boxes, which loads read. The functions read no table. */
export async function createFunctions(session: Session): Promise<void> {
  await functions(session);
  const boxes = readSqlFile(join(ROOT, 'sql/migrations/0030_region_box.sql'));
  if (!(await hasRelation(session, boxes.writes[0]!))) await session.script(boxes.text, boxes.file);
}

/** Creates the functions, and the tables of migrations and sections, as in a database of this version. Layers and the API are not created. */
export async function createTables(session: Session): Promise<void> {
  await functions(session);
  await session.query('create schema if not exists ledger');
  for (const { text, file } of [...readSqlFolder('sql/migrations'), ...SECTIONS.map(sectionTables)]) await session.script(text, file);
}
