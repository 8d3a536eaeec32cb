/** Step 5b: is what was built plausible beside what is published? A suspicious refresh is refused, with a table of reasons. */
import type { Database } from '../db/index.ts';
import { createSchema, inWorkspace, lookIn, provideComuni, providePublishedAs } from '../db/catalog.ts';
import { MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';
import { readChecks, readSqlFolder, tableOf, type Relation, type SqlFile } from '../sql-files.ts';
import { runChecks, type Checked } from './check.ts';
import { guardSchema } from './workspace.ts';

/** State 5b: checked, and compared with what is published. */
export interface Guarded {
  readonly state: 'guarded';
  readonly checked: Checked;
  /** Why it is published although a guard objected; null: none did. */
  readonly accepted: string | null;
}

/** Lines of the table shown for one guard. */
const SHOWN = 10;

/** What a guard watches: not the parcels that only say where, unless they are all that it reads. */
function own(file: SqlFile): readonly Relation[] {
  const others = file.reads.filter((read) => read !== 'core.parcel');
  return others.length > 0 ? others : file.reads;
}

/**
 * Runs `sql/guards` on every table that was built and has a published predecessor: `x` is the new one, `published_x` the old. Where rows were carried
 * over, what is said comune by comune is asked of the comuni in which a parcel changed.
 * @param accept the operator's reason to publish nevertheless
 * @throws MappaleError `SUSPICIOUS` (exit 5) with a table of comuni, was and now
 */
export async function guard(database: Database, checked: Checked, subject: string, accept: string | null, log: Log): Promise<Guarded> {
  const { joined } = checked;
  const built = new Set<string>(joined.built.filter(({ published }) => published !== null).map(({ relation }) => relation));
  const standing = new Map(joined.products.map((product) => [product.relation, product.published]));
  const files = readSqlFolder('sql/guards').filter((file) => own(file).some((read) => built.has(read)) && file.reads.every((read) => (standing.get(read) ?? null) !== null));
  if (files.length === 0) return { state: 'guarded', checked, accepted: null };
  const offences = await inWorkspace(database, joined.schema, async (session) => {
    for (const relation of new Set(files.flatMap(({ reads }) => reads))) {
      await providePublishedAs(session, joined.schema, relation, standing.get(relation)!, `published_${tableOf(relation)}`);
    }
    const { carrying } = joined;
    const isCarried = (file: SqlFile): boolean => carrying !== null && file.reads.every((read) => carrying.results.has(read));
    const few = files.filter(isCarried).flatMap(readChecks).filter(({ byComune }) => byComune);
    const found = await runChecks(session, files.flatMap((file) => readChecks(file).filter(({ byComune }) => !byComune || !isCarried(file))));
    if (carrying === null || few.length === 0 || !(await carrying.provideChanged(session))) return found;
    const schema = guardSchema(joined.unit);
    await createSchema(session, schema);
    await provideComuni(session, schema, carrying.schema, { schema: 'core', table: standing.get('core.parcel')! }, { schema: joined.schema, table: 'parcel' });
    await lookIn(session, [schema, joined.schema]);
    return [...found, ...(await runChecks(session, few))];
  });
  if (offences.length === 0) return { state: 'guarded', checked, accepted: null };
  const lines = offences.flatMap(({ name, expects, rows, samples }) => [
    `${name}: expected that ${expects}; ${rows} say otherwise`,
    ...samples.slice(0, SHOWN).map((row) => `  ${String(row['comune']).padEnd(6)} ${String(row['was']).padStart(14)} → ${String(row['now']).padStart(14)}`),
  ]);
  if (accept !== null) {
    log.warn(`${subject}: published although the guards object (${accept}):\n${lines.join('\n')}`);
    return { state: 'guarded', checked, accepted: `${accept} | ${offences.map(({ name }) => name).join(', ')}` };
  }
  throw new MappaleError(`${subject}: what was built differs suspiciously from what is published`, {
    code: 'SUSPICIOUS', kind: 'checks', at: offences.map(({ file, name }) => `${file} ${name}`).join(', '), detail: lines.join('\n          '),
    hint: 'The published region is untouched. Look at the files; if the change is real, run again with --accept "the reason".',
  });
}
