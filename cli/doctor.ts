import type { Command } from 'commander';
import { readConfig } from '../pipelines/config.ts';
import { onDatabase, one, serverFacts } from '../pipelines/db/index.ts';
import { checkServer } from '../pipelines/db/migrate.ts';
import { damaged, damageOf, expectedObjects, lostPartitions, OBJECTS_FILE } from '../pipelines/db/objects.ts';
import { missingRights, ROLE } from '../pipelines/db/role.ts';
import { appliedFiles, isApplied, partsOf, requireCurrent } from '../pipelines/db/state.ts';
import { EXIT, MappaleError } from '../pipelines/errors.ts';
import { freeBytes } from '../pipelines/formats/disk.ts';
import { engineText } from '../pipelines/formats/gdal.ts';
import { gdal } from '../pipelines/formats/vector.ts';
import { loadSources } from '../pipelines/contract/registry.ts';
import { command, looking, print } from './command.ts';
import { statementsOf } from '../pipelines/db/statements.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly found: string;
  /** Code of the error that the check found. */
  readonly code?: string | undefined;
  /** Instructions that fix the problem or improve a setup that works. */
  readonly hint?: string | undefined;
  readonly fix?: string | undefined;
}

export function doctorCommand(): Command {
  return command('doctor', ['mappale doctor', 'mappale doctor --json'])
    .option('--json', 'print as JSON')
    .action(async (options: { json?: boolean }) => {
      const findings = await examine();
      print(options.json, findings, () => findings.map(describe).join('\n'));
      if (findings.some(({ ok }) => !ok)) process.exitCode = findings.some(({ code }) => code === 'CATALOGUE_DAMAGED') ? EXIT.database : EXIT.usage;
    });
}

function describe({ check, ok, found, hint, fix }: Finding): string {
  const more = [hint, fix === undefined ? undefined : `type: ${fix}`].filter((line) => line !== undefined);
  return [`${ok ? more.length === 0 ? 'ok  ' : 'note' : 'FAIL'} ${check}: ${found}`, ...more].join('\n     ');
}

/** A check of this machine or of the database. `run` returns the text to print, with or without a hint, or throws an error that describes the problem. */
interface Check {
  readonly name: string;
  readonly run: (url: string) => Promise<string | Pick<Finding, 'found' | 'hint'>>;
}

async function examine(): Promise<Finding[]> {
  const { databaseUrl } = readConfig();
  const findings: Finding[] = [];
  for (const check of CHECKS) findings.push(await resultOf(check, databaseUrl));
  return findings;
}

async function resultOf({ name, run }: Check, url: string): Promise<Finding> {
  try {
    const found = await run(url);
    return { check: name, ok: true, ...(typeof found === 'string' ? { found } : found) };
  } catch (error) {
    if (!(error instanceof MappaleError)) return { check: name, ok: false, found: String(error) };
    const { message, code, detail, hint, fix } = error;
    return { check: name, ok: false, found: `${message} [${code}]${detail === undefined ? '' : `: ${detail}`}`, code, hint, fix };
  }
}

async function nodeVersion(): Promise<string> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new MappaleError(`found Node ${process.versions.node}`, { code: 'NODE_TOO_OLD', kind: 'usage', hint: 'Install Node 20.19 or newer.', fix: 'nvm install 22' });
  }
  return `Node ${process.versions.node}`;
}

async function gdalVersion(): Promise<string> {
  return engineText(await gdal('GDAL', 'version'));
}

async function sourceCount(): Promise<string> {
  return `${(await loadSources()).length} sources`;
}

function databaseVersion(url: string): Promise<string> {
  return looking(url, async (database) => {
    if (database === null) return 'does not exist yet. The first load creates the database';
    if ((await appliedFiles(database)) === null) {
      await checkServer(database, database.label);
      return `${database.label}: empty. The first load creates the tables`;
    }
    await requireCurrent(database, await loadSources());
    const { version } = await one<{ version: string }>(database, statementsOf('server')('versions'));
    return `${database.label}: PostgreSQL ${version}`;
  });
}

async function serverSettings(url: string): Promise<string> {
  if (url.startsWith('pglite:')) return 'not used (the database is embedded)';
  // Opens the database in the same way as a load, so that the check reports the same errors. Writes nothing.
  const { encoding, searchPath, statementTimeout, extensions, pooling } = await onDatabase(url, 'write', async (database) => ({
    ...await serverFacts(database), pooling: database.pooling,
  }));
  const schemas = [...new Set(Object.values(extensions))].join(', ') || 'no schema, because the extensions are not created yet';
  return `encoding ${encoding}, extensions in ${schemas}, no standby, not read-only; each session sets search_path ${searchPath} and statement_timeout ${statementTimeout}${pooling === null ? '' : '; through a connection pooler that keeps sessions'}`;
}

function databaseObjects(url: string): Promise<string | Pick<Finding, 'found' | 'hint'>> {
  return looking(url, async (database) => {
    const applied = database === null ? null : await appliedFiles(database);
    if (database === null || applied === null) return 'no data is loaded';
    const parts = partsOf(await loadSources());
    const expected = expectedObjects(parts);
    if (expected === null) return { found: `not compared: the SQL files changed after ${OBJECTS_FILE} was generated`, hint: `Regenerate ${OBJECTS_FILE} as described in docs/adding-a-section.md.` };
    if (parts.some((part) => !isApplied(part, applied))) return 'not compared: the database has a different version of the SQL files';
    const damage = await database.session((session) => damageOf(session, parts));
    if (damage.length > 0) throw damaged(damage);
    return `${Object.values(expected.objects).reduce((sum, each) => sum + Object.keys(each).length, 0)} objects`;
  });
}

function publishedPartitions(url: string): Promise<string> {
  return looking(url, async (database) => {
    if (database === null || (await appliedFiles(database)) === null) return 'no region is published';
    const lost = await lostPartitions(database);
    const [example] = lost;
    if (example === undefined) return 'all partitions exist';
    throw new MappaleError(`${lost.length} published partitions are missing or detached, such as ${example.partition} of ${example.relation}`, {
      code: 'PARTITION_MISSING', kind: 'database', hint: 'Load the region again.', fix: 'npx mappale load-region REGION --data FOLDER',
    });
  });
}

function serverRole(url: string): Promise<string | Pick<Finding, 'found' | 'hint'>> {
  return looking(url, async (database) => {
    if (database === null || database.engine === 'pglite' || (await appliedFiles(database)) === null) return 'not used';
    const missing = await missingRights(database);
    if (missing.length === 0) return `${ROLE} has these rights`;
    const left = `${missing.length} statement${missing.length === 1 ? ' is' : 's are'} still needed`;
    return { found: `${left}, by a superuser of the server. Needed only for: npx mappale serve`, hint: missing.join('\n     ') };
  });
}

async function diskSpace(url: string): Promise<string> {
  if (!url.startsWith('pglite:')) return 'not used (DATABASE_URL is a server)';
  const free = (await freeBytes(url.slice('pglite:'.length))) / 1024 ** 3;
  if (free < 1) throw new MappaleError(`${free.toFixed(1)} GiB free`, { code: 'DISK_FULL', kind: 'usage', hint: 'Free at least 1 GiB, or name a folder on another disk.', fix: 'export DATABASE_URL=pglite:/OTHER_DISK/mappale' });
  return `${free.toFixed(1)} GiB free`;
}

const CHECKS: readonly Check[] = [
  { name: 'Node is 20.19 or newer', run: nodeVersion },
  { name: 'vector files can be read', run: gdalVersion },
  { name: 'sources load', run: sourceCount },
  { name: 'the database answers and matches this version of the program', run: databaseVersion },
  { name: 'the server is suitable for loads', run: serverSettings },
  { name: 'the database has every table, index, function and grant of this version of the program', run: databaseObjects },
  { name: 'the published partitions that the ledger lists exist', run: publishedPartitions },
  { name: 'the server role may call only the API functions', run: serverRole },
  { name: 'free space on the disk of the embedded database', run: diskSpace },
];
