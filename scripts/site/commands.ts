/** Writes the page of all commands, with options and examples. */
import type { Command } from 'commander';
import { program } from '../../cli/main.ts';
import { SETTINGS } from '../../pipelines/config.ts';
import { EXIT } from '../../pipelines/errors.ts';
import { anchor, code, fence, link, page, prose, table, type Page } from './markdown.ts';

const MEANING: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'done, or nothing to do',
  bug: 'a bug: please report the bug with the output',
  usage: 'wrong usage or configuration',
  input: 'input missing or changed',
  rejects: 'too many records rejected',
  checks: 'checks failed, or the new data differs too much from the published data',
  database: 'database',
  locked: 'another run is writing',
};

export function exitCodes(): string {
  return table(['Exit code', 'Meaning'], Object.entries(EXIT).map(([kind, exit]) => [String(exit), MEANING[kind as keyof typeof EXIT]]));
}

interface TypedCommand {
  /** Words of the command after `mappale`. */
  readonly typed: string;
  readonly command: Command;
}

/** Returns the subcommands of a command, or the command itself if the command has no subcommands. */
function leaves(command: Command, typed: string): TypedCommand[] {
  return command.commands.length === 0 ? [{ typed, command }] : command.commands.flatMap((child) => leaves(child, `${typed} ${child.name()}`));
}

function titleOf({ typed }: TypedCommand): string {
  return `mappale ${typed}`;
}

function examplesOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return [...help.matchAll(/^ {2}\$ (.*)$/gm)].map((match) => match[1]!.replace(/(^|\s)mappale /, '$1npx mappale ')).join('\n');
}

function blocksOf({ typed, command }: TypedCommand): string[] {
  const words = command.registeredArguments.map((argument) => {
    const shown = `${argument.name()}${argument.variadic ? '…' : ''}`;
    return [code(argument.required ? `<${shown}>` : `[${shown}]`), prose(argument.description), ''];
  });
  const options = command.options.map(({ flags, description, defaultValue }) => {
    const usual = defaultValue as unknown;
    return [code(flags), prose(description), usual === undefined || usual === false ? '' : code(String(usual))];
  });
  const examples = examplesOf(command);
  return [
    `## ${titleOf({ typed, command })}`,
    prose(command.description()),
    words.length + options.length === 0 ? '' : table(['Argument or option', 'Meaning', 'Default'], [...words, ...options]),
    examples === '' ? '' : fence(examples),
  ];
}

export async function commandPage(): Promise<Page> {
  const commands = (await program()).commands.flatMap((command) => leaves(command, command.name()));
  return page('commands.md', 'Commands', [
    `${code('npx mappale COMMAND --help')} prints the description of a command in a terminal. Results go to stdout, and all other output to stderr.`,
    table(['Command', 'Purpose'], commands.map((each) => [link(`#${anchor(titleOf(each))}`, each.typed), prose(each.command.description())])),
    '## Environment variables',
    // The descriptions are already Markdown, because the README has the same table.
    table(['Setting', 'Meaning'], Object.entries(SETTINGS).map(([name, description]) => [code(name), description])),
    '## Exit codes',
    exitCodes(),
    ...commands.flatMap(blocksOf),
  ]);
}
