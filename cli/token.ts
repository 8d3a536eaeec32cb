import { randomBytes } from 'node:crypto';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { hashOf, SCOPES, type Scope } from '../api/access.ts';
import { CLOCK } from '../pipelines/clock.ts';
import { withContext } from '../pipelines/run/context.ts';
import { one, type Session } from '../pipelines/db/index.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { textTable } from '../pipelines/text-table.ts';
import { command, look, parseCount, print } from './command.ts';
import { retyped, withOption } from '../pipelines/typed.ts';
import { statementsOf } from '../pipelines/db/statements.ts';

const statement = statementsOf('token');

type Token = {
  readonly id: number;
  readonly scopes: readonly string[];
  readonly state: 'valid' | 'expired' | 'revoked';
  readonly created_at: string;
  /** Number of requests in the current hour. */
  readonly used: number;
} & Readonly<Record<'name' | 'expires_at' | 'revoked_at', string | null>>;

export function tokenCommand(): Command {
  const create = command('token create', [
    'mappale token create --name "map of the office" --scopes geocoding:read,parcels:read',
    `mappale token create --scopes parcels:read --expires ${dayToCome()}`,
  ])
    .description('Create a token. The token is printed only once, because the database stores only its SHA-256.')
    .addOption(new Option('--scopes <scopes>', 'comma-separated names').choices(SCOPES).argParser(parseScopes).makeOptionMandatory())
    .option('--name <text>', 'purpose or owner of the token')
    .option('--expires <date>', 'last valid day, YYYY-MM-DD (UTC)', parseDay)
    .option('--json', 'print as JSON')
    .action(({ scopes, name, expires, json }: { scopes: Scope[]; name?: string; expires?: Date; json?: boolean }) => (
      withContext({ access: 'write' }, async ({ database, log }) => {
        const made = await createToken(database, scopes, name ?? null, expires ?? null);
        log.info(`token ${made.id} with ${scopes.join(', ')} (not shown again)`);
        print(json, made, () => made.token);
      })
    ));
  const list = command('token list', ['mappale token list', 'mappale token list --json'])
    .description('List tokens and their use.')
    .option('--json', 'print as JSON')
    .action((options: { json?: boolean }) => look(options, async ({ database }) => {
      const tokens = await listTokens(database);
      return [tokens, () => (tokens.length === 0 ? 'there are no tokens. To create a token, run: npx mappale token create --scopes parcels:read' : textTable(
        tokens.map(({ id, name, scopes, state, created_at, expires_at, used }) => [String(id), name, scopes.join(' '), state, created_at, expires_at, used]),
        ['token', 'name', 'scopes', 'state', 'created', 'expires', 'used this hour'],
      ))];
    }));
  const revoke = command('token revoke', ['mappale token revoke 3'])
    .description('Revoke a token.')
    .argument('<id>', 'number of the token, as shown by token list', parseCount)
    .option('--json', 'print as JSON')
    .action((id: number, { json }: { json?: boolean }) => withContext({ access: 'write' }, async ({ database }) => {
      await revokeToken(database, id);
      print(json, { id, state: 'revoked' }, () => `token ${id} is revoked`);
    }));
  return command('token', [
    'mappale token create --scopes geocoding:read,admin_data:read,parcels:read', 'mappale token list', 'mappale token revoke 3',
  ]).addCommand(create).addCommand(list).addCommand(revoke);
}

/** @throws MappaleError `SCOPE_UNKNOWN` (exit 2) */
function parseScopes(text: string): Scope[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const isScope = (name: string): name is Scope => (SCOPES as readonly string[]).includes(name);
  if (names.every(isScope)) return names;
  throw new MappaleError(`there is no scope ${names.filter((name) => !isScope(name)).join(', ')}`, {
    code: 'SCOPE_UNKNOWN', kind: 'usage', detail: `expected names of ${SCOPES.join(', ')}`, hint: 'Separate several scopes by commas.',
    fix: `npx mappale token create --scopes ${SCOPES.join(',')}`,
  });
}

const ENDLESS = 'Omit --expires for a token that is valid until it is revoked.';

/** Returns a day in the future, for examples. */
function dayToCome(): string {
  return `${new Date(CLOCK.now()).getUTCFullYear() + 1}-12-31`;
}

function otherDay(): string {
  const day = dayToCome();
  return retyped(withOption('--expires', day), `npx mappale token create --scopes parcels:read --expires ${day}`);
}

/** Returns the end of a day in UTC. @throws MappaleError `DATE_EXPECTED`, `DATE_PAST` (exit 2) */
function parseDay(text: string): Date {
  if (!z.iso.date().safeParse(text).success) {
    throw new MappaleError('a date is required', { code: 'DATE_EXPECTED', kind: 'usage', detail: `expected YYYY-MM-DD, found ${text}`, hint: ENDLESS, fix: otherDay() });
  }
  const end = new Date(Date.parse(text) + 86_400_000);
  if (end.getTime() <= CLOCK.now()) throw new MappaleError('the day is in the past', { code: 'DATE_PAST', kind: 'usage', detail: `expected today or later, found ${text}`, hint: ENDLESS, fix: otherDay() });
  return end;
}

/** @returns the id and the token; only a digest of the token is stored, so the token cannot be shown again */
export async function createToken(
  session: Session, scopes: readonly Scope[], name: string | null, expiresAt: Date | null,
): Promise<{ id: number; token: string }> {
  const token = `mpl_${randomBytes(32).toString('base64url')}`;
  const { id } = await one<{ id: number }>(
    session,
    statement('add'),
    [name, hashOf(token), scopes, expiresAt?.toISOString() ?? null],
  );
  return { id, token };
}

export async function listTokens(session: Session): Promise<Token[]> {
  return session.query<Token>(statement('list'));
}

/** @throws MappaleError `TOKEN_UNKNOWN` (exit 2) */
export async function revokeToken(session: Session, id: number): Promise<void> {
  const rows = await session.query(statement('revoke'), [id]);
  if (rows.length === 0) throw new MappaleError(`there is no token ${id}`, { code: 'TOKEN_UNKNOWN', kind: 'usage', hint: 'List the tokens.', fix: 'npx mappale token list' });
}
