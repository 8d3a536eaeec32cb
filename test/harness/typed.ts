/** Splits commands in documents, help and errors into words like a shell, and checks them against the program. */
import type { Command } from 'commander';
import { program } from '../../cli/main.ts';

/** Splits a line into words like a shell. Supports only the syntax that documents use, and drops the word `…`. */
export function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3]!).filter((word) => word !== '…');
}

/** Returns the SQL after `-c` in a `psql` command that the server's administrator must run, or an empty text. */
export function statementIn(line: string | undefined): string {
  return / -c (?:'([^']+)'|"([^"]+)")/.exec(line ?? '')?.slice(1).find((sql) => sql !== undefined) ?? '';
}

/** Returns the reason why the command line refuses these arguments, or null if it accepts them. The command is checked but not run. */
export async function refusal(arguments_: readonly string[]): Promise<string | null> {
  const root = await program();
  let said = '';
  const disarm = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: (text) => (said += text) });
    if (command.commands.length === 0) command.action(() => undefined);
    command.commands.forEach(disarm);
  };
  disarm(root);
  try {
    await root.parseAsync([...arguments_], { from: 'user' });
    return null;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code === 'commander.helpDisplayed' || code === 'commander.version' ? null : said.trim().split('\n')[0] || message;
  }
}
