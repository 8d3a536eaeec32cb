/** Generates completion scripts for shells from the commands. The scripts complete words without starting this program. */
import { Argument, type Command, type Option } from 'commander';
import { loadSources } from '../pipelines/contract/registry.ts';
import { REGIONS } from '../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { command, print } from './command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Words that can follow a command. */
interface Spec {
  /** Names of the command and of its parent command, each after a space, such as ` token create`. Empty for `mappale` without a command. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly { readonly long: string; readonly description: string; readonly values: readonly string[] | null }[];
  /** Values of the first argument. Empty: the argument is completed as a file name. */
  readonly values: readonly string[];
}

/** Possible values of an argument or option, by the name of its placeholder, such as `region` for `<region>`. */
type Values = ReadonlyMap<string, readonly string[]>;

/** @param commands imports all commands */
export function completionCommand(commands: () => Promise<readonly Command[]>): Command {
  return command('completion', [
    'mappale completion bash > ~/.local/share/bash-completion/completions/mappale',
    'mappale completion zsh > ~/.mappale-completion.zsh',
    'mappale completion fish > ~/.config/fish/completions/mappale.fish',
  ])
    .addArgument(new Argument('<shell>', 'shell for which the script is written').choices(SHELLS).argParser(parseShell))
    .option('--json', 'print as JSON')
    .action(async (shell: Shell, { json }: { json?: boolean }, self: Command) => {
      const values = await namedValues();
      const root: Spec = { path: '', ...partsOf(self.parent ?? self, values), subcommands: (await commands()).map(named) };
      const script = scriptFor(shell, [root, ...(await commands()).flatMap((each) => specsOf(each, '', values))]);
      print(json, { shell, script }, () => script.trimEnd());
    });
}

/** @throws MappaleError `SHELL_UNKNOWN` (exit 2) */
function parseShell(text: string): Shell {
  const shell = SHELLS.find((each) => each === text);
  if (shell !== undefined) return shell;
  throw new MappaleError(`there is no completion for ${text}`, { code: 'SHELL_UNKNOWN', kind: 'usage', detail: `expected ${SHELLS.join(', ')}`, hint: 'Name one of these shells.', fix: 'npx mappale completion bash' });
}

async function namedValues(): Promise<Values> {
  const kinds = { region: REGIONS.map(({ slug }) => slug), section: SECTION_NAMES, source: (await loadSources()).map(({ id }) => id) };
  return new Map(Object.entries(kinds).flatMap(([name, values]) => [[name, values], [`${name}s`, values]] as const));
}

function named(each: Command): Spec['subcommands'][number] {
  return { name: each.name(), description: each.description() };
}

function specsOf(each: Command, above: string, values: Values): Spec[] {
  const path = `${above} ${each.name()}`;
  return [{ path, ...partsOf(each, values), subcommands: each.commands.map(named) }, ...each.commands.flatMap((child) => specsOf(child, path, values))];
}

function partsOf({ options, registeredArguments: [first] }: Command, values: Values): Pick<Spec, 'options' | 'values'> {
  const valuesOf = (option: Option): readonly string[] => option.argChoices ?? values.get(/[<[]([\w-]+)/.exec(option.flags)?.[1] ?? '') ?? [];
  return {
    options: [
      ...options.filter(({ hidden }) => !hidden).map((option) => ({
        long: option.long ?? option.flags, description: option.description, values: option.required || option.optional ? valuesOf(option) : null,
      })),
      { long: '--help', description: 'show the options, with examples', values: null },
    ],
    values: first === undefined ? [] : first.argChoices ?? values.get(first.name()) ?? [],
  };
}

function scriptFor(shell: Shell, specs: readonly Spec[]): string {
  if (shell === 'fish') return fishScript(specs);
  const register = 'complete -o default -F _mappale mappale';
  return shell === 'bash' ? `${bashFunction(specs)}${register}\n` : `autoload -U +X bashcompinit && bashcompinit\n${bashFunction(specs)}${register}\n`;
}

/** Returns the completion function for bash, and for zsh with bashcompinit. In a comma-separated list, the function completes the name after the last comma. */
function bashFunction(specs: readonly Spec[]): string {
  const global = specs[0]?.options ?? [];
  const listed = (names: readonly string[]): string => `words='${names.join(' ')}'`;
  const paths = specs.slice(1).map(({ path }) => `'${path}'`).join('|');
  const afterOption = specs.flatMap(({ path, options }) => options.flatMap(({ long, values }) => (values === null ? [] : [`    ${path === '' ? '*' : ''}'${path} ${long}') ${listed(values)} ;;`])));
  const inside = specs.map(({ path, options, subcommands, values }) => {
    const all = [...new Set([...options, ...global].map(({ long }) => long))];
    return `        '${path}') case "$cur" in -*) ${listed(all)} ;; *) ${listed(subcommands.length > 0 ? subcommands.map(({ name }) => name) : values)} ;; esac ;;`;
  });
  return `# Completes commands, options, regions, sources and sections of mappale.
_mappale() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${paths}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $prev" in
${afterOption.join('\n')}
    *)
      case "$path" in
${inside.join('\n')}
      esac ;;
  esac
  COMPREPLY=( $(compgen -P "\${cur%"\${cur##*,}"}" -W "$words" -- "\${cur##*,}") )
}
`;
}

function fishScript(specs: readonly Spec[]): string {
  const text = (words: string): string => `'${words.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const taking = (values: readonly string[] | null): string => (values === null ? '' : values.length === 0 ? ' -r' : ` -x -a '(__fish_append , ${values.join(' ')})'`);
  const lines = specs.flatMap(({ path, options, subcommands, values }) => {
    const where = path === '' ? '' : ` -n ${text(`test (__mappale_path) = '${path}'`)}`;
    const here = path === '' ? ` -n "test (__mappale_path) = ''"` : where;
    return [
      ...subcommands.map(({ name, description }) => `complete -c mappale${here} -f -a ${name} -d ${text(description)}`),
      ...options.map((option) => `complete -c mappale${where} -l ${option.long.replace(/^--/, '')}${taking(option.values)} -d ${text(option.description)}`),
      ...(values.length === 0 ? [] : [`complete -c mappale${where} -f -a '${values.join(' ')}'`]),
    ];
  });
  return `# Completes commands, options, regions, sources and sections of mappale.
function __mappale_path
  set -l path ''
  for word in (commandline -opc)[2..]
    if contains -- "$path $word" ${specs.slice(1).map(({ path }) => `'${path}'`).join(' ')}
      set path "$path $word"
    end
  end
  echo -- $path
end
${lines.join('\n')}
`;
}
