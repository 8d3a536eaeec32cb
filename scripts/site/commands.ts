/** The page of commands, with options and examples from the command line's definitions. */
import type { Command } from 'commander';
import { SETTINGS } from '../../pipelines/config.ts';
import { program } from '../../pipelines/cli/main.ts';
import { EXIT } from '../../pipelines/errors.ts';
import { rendered } from './documents.ts';
import { block, code, escaped, heading, paragraph, prose, table } from './html.ts';
import type { Page } from './page.ts';

/** Meaning of each exit code for the user. */
const MEANING: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'done, or nothing to do',
  bug: 'a bug: please report it with the printed message',
  usage: 'usage or configuration',
  input: 'input missing or changed',
  rejects: 'too many records refused',
  checks: 'checks failed, or the new data differs too much from the published data',
  database: 'database',
  locked: 'another run is writing',
};

export function exitCodes(): string {
  return table(['Exit code', 'Means'], Object.entries(EXIT).map(([kind, exit]) => [String(exit), escaped(MEANING[kind as keyof typeof EXIT])]));
}

/** Returns the command and its subcommands, each with the words to type. */
function leaves(command: Command, typed: string): { readonly typed: string; readonly command: Command }[] {
  return command.commands.length === 0 ? [{ typed, command }] : command.commands.flatMap((child) => leaves(child, `${typed} ${child.name()}`));
}

function described({ typed, command }: { readonly typed: string; readonly command: Command }): string {
  const words = command.registeredArguments.map((argument) => ({ flags: `${argument.required ? '<' : '['}${argument.name()}${argument.variadic ? '…' : ''}${argument.required ? '>' : ']'}`, what: argument.description, usual: undefined }));
  const options = command.options.map(({ flags, description, defaultValue }) => ({ flags, what: description, usual: defaultValue as unknown }));
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  const examples = [...help.matchAll(/^ {2}\$ (.*)$/gm)].map((match) => match[1]!.replace(/(^|\s)mappale /, '$1npx mappale '));
  return [
    heading(2, `mappale ${typed}`, typed.replaceAll(' ', '-')),
    paragraph(prose(command.description())),
    words.length + options.length === 0 ? '' : table(['', 'What', 'Without it'], [...words, ...options].map(({ flags, what, usual }) => [
      code(flags), prose(what), usual === undefined || usual === false ? '' : code(String(usual)),
    ])),
    block(examples.join('\n')),
  ].join('');
}

/** @param dead is called for each broken link, with page and address */
export function commandPage(dead: (page: string, href: string) => void): Page {
  const path = 'commands.html';
  const root = program();
  // Text of the README, with its links.
  const settings = ['| Setting | Means |', '|---|---|', ...Object.entries(SETTINGS.shape).map(([name, { description = '' }]) => `| \`${name}\` | ${description} |`)].join('\n');
  const commands = root.commands.flatMap((command) => leaves(command, command.name()));
  return {
    path, title: 'Commands', part: 'Reference', below: null,
    body: [
      paragraph(`${code('npx mappale COMMAND --help')} says the same in a terminal. Results go to stdout, everything else to stderr.`),
      table(['Command', 'What'], commands.map(({ typed, command }) => [`<a href="#${escaped(typed.replaceAll(' ', '-'))}">${escaped(typed)}</a>`, prose(command.description())])),
      heading(2, 'Settings of the environment'), rendered('README.md', settings, (href) => dead(path, href)).body,
      heading(2, 'Exit codes'), exitCodes(),
      ...commands.map(described),
    ].join(''),
  };
}
