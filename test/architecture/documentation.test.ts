/** Tests that the commands, settings and files named in the documents, the help, the Makefile and the container files exist and are valid. */
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../pipelines/config.ts';
import { program } from '../../cli/main.ts';
import { serverAddress } from '../../pipelines/db/server-address.ts';
import { refusal, words } from '../harness/typed.ts';
import { FILES, isData, read, SECTION_FOLDERS } from '../harness/architecture/project.ts';

const DOCUMENTS = FILES.filter((file) => file.endsWith('.md') && !isData(file));
const MAKEFILE = read('Makefile');
const TARGETS = new Set([...MAKEFILE.matchAll(/^([a-z-]+):/gm)].map((match) => match[1]!));
const SCRIPTS = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts;

interface Typed {
  readonly file: string;
  /** Command without the preceding environment settings. */
  readonly line: string;
}

/** Finds the commands in code blocks and inline code. Returns the parts between `&&`, `||`, `|` and `;`, without comments and redirections. */
function typedIn(file: string, text: string): Typed[] {
  const blocks = [...text.matchAll(/^```(?:sh|bash|console|shell)?\n([\s\S]*?)^```/gm)].flatMap((match) => match[1]!.replace(/\\\n\s*/g, ' ').split('\n'));
  const spans = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);
  return [...blocks, ...spans]
    .flatMap((line) => line.replace(/\s(#|<|>+)\s.*$/, '').split(/&&|\|\||\||;/))
    .map((line) => ({ file, line: line.trim().replace(/^\$ /, '').replace(/^([A-Z_]+=("[^"]*"|'[^']*'|\S*)\s+)+/, '') }));
}

function commandsOf(root: Command): { readonly path: string; readonly command: Command }[] {
  const inside = (command: Command, path: string): { path: string; command: Command }[] => [
    { path, command },
    ...command.commands.flatMap((child) => inside(child, `${path} ${child.name()}`)),
  ];
  return root.commands.flatMap((command) => inside(command, command.name()));
}

function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

/** Returns the commands that run mappale with arguments: directly, with `npx`, or with `node`. */
function programLines(typed: readonly Typed[]): (Typed & { readonly words: string[] })[] {
  return typed
    .map((each) => ({ ...each, words: words(each.line) }))
    .map((each) => (each.words[0] === 'npx' ? { ...each, words: each.words.slice(1) } : each))
    .map((each) => (each.words[0] === 'node' && each.words[1]?.endsWith('pipelines/mappale.mjs') ? { ...each, words: ['mappale', ...each.words.slice(2)] } : each))
    .filter((each) => each.words[0] === 'mappale' && each.words.length > 1);
}

const all = await program();

describe('a command of the program', () => {
  const commands = commandsOf(all);

  it('has a description for itself and for each option and argument', () => {
    expect(commands.length).toBeGreaterThan(5);
    const silent = commands.flatMap(({ path, command }) => [
      ...(command.description() === '' ? [path] : []),
      ...command.options.filter(({ description }) => description === '').map(({ flags }) => `${path} ${flags}`),
      ...command.registeredArguments.filter(({ description }) => description === '').map((argument) => `${path} ${argument.name()}`),
    ]);
    expect(silent).toEqual([]);
  });

  it('shows valid examples in its help', async () => {
    const violations: string[] = [];
    for (const { path, command } of commands.filter(({ command }) => command.commands.length === 0)) {
      const examples = programLines([...helpOf(command).matchAll(/^ {2}\$ (.*)$/gm)].flatMap((match) => typedIn(path, `\`${match[1]!}\``)));
      if (!examples.some((example) => example.words.slice(1).join(' ').startsWith(path))) violations.push(`${path}: no example in its help`);
      for (const example of examples) {
        const why = await refusal(example.words.slice(1));
        if (why !== null) violations.push(`${path}: ${example.line}: ${why}`);
      }
    }
    expect(violations).toEqual([]);
  });
});

describe('the Makefile', () => {
  it('explains each target and declares it as phony', () => {
    const explained = new Set([...MAKEFILE.matchAll(/^([a-z-]+):.*## \S/gm)].map((match) => match[1]!));
    const phony = new Set(/^\.PHONY: (.*)$/m.exec(MAKEFILE)?.[1]?.split(' '));
    expect([...TARGETS].filter((target) => !explained.has(target) || !phony.has(target))).toEqual([]);
    expect([...phony].filter((target) => !TARGETS.has(target))).toEqual([]);
  });

  it('calls only existing commands', () => {
    const called = [...MAKEFILE.matchAll(/\$\(mappale\) ([a-z-]+)/g)].map((match) => match[1]!);
    const known = new Set(all.commands.map((command) => command.name()));
    expect(called.length).toBeGreaterThan(5);
    expect(called.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('the files for deployment and for GitHub', () => {
  interface Service {
    readonly build?: string;
    readonly command?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
  }
  const { services } = parse(read('compose.yaml')) as { services: Readonly<Record<string, Service>> };
  const image = read('Dockerfile');

  it('contain only valid mappale commands in the Dockerfile and compose.yaml', async () => {
    const given = [/^CMD (\[.*\])$/m.exec(image)?.[1] ?? '', ...Object.values(services).flatMap(({ build, command }) => (build === undefined || command === undefined ? [] : [JSON.stringify(command)]))];
    expect(given.length).toBe(3);
    for (const each of given) expect([each, await refusal(JSON.parse(each) as string[])]).toEqual([each, null]);
  });

  it('contain only valid mappale commands in scripts/deploy', async () => {
    const deployed = FILES.filter((file) => file.startsWith('scripts/deploy/'));
    const lines = deployed.flatMap((file) => [...read(file).matchAll(/^(?!#).*(?:pipelines\/mappale\.mjs|command: \[mappale)(?:, | )(.+?)(?:\]| 2>>.*)?$/gm)].map((match) => [file, match[1]!.replaceAll(', ', ' ')] as const));
    expect(new Set(lines.map(([, line]) => line.split(' ')[0]))).toEqual(new Set(['serve', 'watch']));
    expect(lines.length).toBeGreaterThanOrEqual(4);
    for (const [file, line] of lines) expect([file, line, await refusal(words(line))]).toEqual([file, line, null]);
  });

  it('contain database URLs that the program accepts', () => {
    const urls = Object.values(services).flatMap(({ environment }) => environment?.['DATABASE_URL'] ?? []);
    expect(urls.length).toBe(2);
    expect(urls.map((url) => serverAddress(url).label)).toEqual(['mappale', 'reader'].map((user) => `postgres database:5432, database italy, user ${user}`));
  });

  it('copy only existing files and all folders of the program, and set an ordinary user and a health check', () => {
    const copied = [...image.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap((match) => match[1]!.split(' '));
    expect(copied.filter((path) => !FILES.some((file) => file === path || file.startsWith(`${path}/`)))).toEqual([]);
    const imported = ['api', 'cli', 'pipelines', 'sources', 'sql', 'package.json'];
    expect(imported.filter((path) => !copied.includes(path))).toEqual([]);
    expect(image).toMatch(/^USER (?!root)/m);
    expect(image).toMatch(/^HEALTHCHECK /m);
  });

  it('run the script .ci/run on GitHub', () => {
    const { jobs } = parse(read('.github/workflows/ci.yml')) as { jobs: Readonly<Record<string, { steps: readonly { run?: string }[] }>> };
    expect(Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))).toContain('.ci/run');
  });
});

describe('the documents', () => {
  const typed = DOCUMENTS.flatMap((file) => typedIn(file, read(file)));

  it('include a README with the two commands for a new machine', () => {
    const lines = typedIn('README.md', read('README.md')).map(({ line }) => line);
    expect(lines).toContain('make load-region');
    expect(lines).toContain('make test');
  });

  it('keep README within 120 lines, and within 100 characters a line outside tables and code', () => {
    const lines = read('README.md').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(120);
    expect(read('README.md').replace(/^```[\s\S]*?^```/gm, '').split('\n').filter((line) => line.length > 100 && !line.startsWith('|'))).toEqual([]);
  });

  // README may leave out sections, because the generated data dictionary lists every section.
  it('list at least 18 sections in README, and only sections of the contract', () => {
    const listed = [...read('README.md').matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1]!);
    expect(listed.filter((name) => !SECTION_FOLDERS.includes(name))).toEqual([]);
    expect(new Set(listed).size).toBeGreaterThanOrEqual(18);
  });

  it('keep each page of docs/ shorter than 150 lines', () => {
    const pages = FILES.filter((file) => /^docs\/[^/]+\.md$/.test(file));
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.filter((file) => read(file).trimEnd().split('\n').length >= 150)).toEqual([]);
  });

  it('include an index that lists every page of docs/', () => {
    const listed = new Set([...read('docs/README.md').matchAll(/\]\(([\w-]+\.md)\)/g)].map((match) => match[1]));
    expect(FILES.filter((file) => /^docs\/[^/]+\.md$/.test(file)).map((file) => file.slice('docs/'.length)).filter((page) => page !== 'README.md' && !listed.has(page))).toEqual([]);
  });

  it('refer only to existing make targets', () => {
    const wrong = typed.filter(({ line }) => /^make [a-z]/.test(line)).filter(({ line }) => !words(line).slice(1).every((word) => /=/.test(word) || TARGETS.has(word)));
    expect(wrong).toEqual([]);
  });

  it('refer only to existing npm scripts', () => {
    const wrong = typed.flatMap(({ file, line }) => /^npm run (\S+)/.exec(line)?.slice(1).filter((name) => !(name in SCRIPTS)).map((name) => `${file}: ${name}`) ?? []);
    expect(wrong).toEqual([]);
  });

  it('show valid commands of the program', async () => {
    const violations: string[] = [];
    for (const each of programLines(typed)) {
      const why = await refusal(each.words.slice(1));
      if (why !== null) violations.push(`${each.file}: ${each.line}: ${why}`);
    }
    expect(violations).toEqual([]);
  });

  it('refer only to existing files of the project', () => {
    // A path in a link is relative to the document's folder. URLs, and links within a document, are left out.
    const wrong = DOCUMENTS.flatMap((file) => {
      const folder = file.split('/').slice(0, -1).map((part) => `${part}/`).join('');
      return [...read(file).matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!.replace(/^\.\//, '')).filter((path) => {
        const parts: string[] = [];
        for (const part of `${folder}${path}`.split('/')) {
          if (part === '..') parts.pop();
          else if (part !== '') parts.push(part);
        }
        const whole = parts.join('/');
        return !FILES.some((each) => each === whole || each.startsWith(`${whole}/`));
      }).map((path) => `${file}: ${path}`);
    });
    expect(wrong).toEqual([]);
  });

  it('name in code only existing files and folders of the project', () => {
    const folders = new Set(FILES.flatMap((file) => /^([^/]+)\//.exec(file)?.[1] ?? []));
    const wrong = DOCUMENTS.flatMap((file) => {
      const spans = [...read(file).matchAll(/`([^`\n]+)`/g)].flatMap((match) => match[1]!.split(/\s+/)).map((word) => word.replace(/[,.;:/]+$/, ''));
      return spans.filter((word) => /^[\w.-]+\/[\w./<>*-]+$/.test(word) && folders.has(word.split('/')[0]!)).filter((path) => {
        // `*` and `<name>` match any name. A path is relative to the root or to the document's folder.
        const pattern = path.replaceAll('.', '\\.').replaceAll(/\*|<\w+>/g, '[^/]+');
        const exists = new RegExp(`^(?:${file.replace(/[^/]*$/, '')})?${pattern}(?:/|$)`);
        return !FILES.some((each) => exists.test(each));
      }).map((path) => `${file}: ${path}`);
    });
    expect(wrong).toEqual([]);
  });

  it('list every environment setting with the program\'s description', () => {
    const rows = [...read('README.md').matchAll(/^\| `([A-Z_]+)` \| (.*) \|$/gm)].map((match) => [match[1], match[2]]);
    expect(rows).toEqual(Object.entries(SETTINGS));
  });

  it('name every folder of pipelines', () => {
    const rooms = [...new Set(FILES.flatMap((file) => /^pipelines\/([^/]+)\//.exec(file)?.[1] ?? []))].sort();
    const named = [...read('docs/architecture.md').matchAll(/^\| `([a-z]+)\/` \|/gm)].map((match) => match[1]!).sort();
    expect(named).toEqual(rooms);
  });
});

describe('docs/one-parcel.md', () => {
  const steps = [...read('docs/one-parcel.md').matchAll(/^\| \d+ \| `([^`]+)` \| `([^`]+)` \|/gm)].map(([, file, name]) => ({ file: file!, name: name! }));

  it('lists at most 20 steps, and each step names a file that declares or writes the object of the step', () => {
    expect(steps.length).toBeGreaterThan(15);
    expect(steps.length).toBeLessThanOrEqual(20);
    const declares = ({ file, name }: { file: string; name: string }): boolean => (file.endsWith('.sql') ? new RegExp(`(?:-- writes:.*|function )\\b${name}\\b`) : new RegExp(`export (?:async )?(?:function|class) ${name}\\b`)).test(read(file));
    expect(steps.filter((step) => !declares(step))).toEqual([]);
  });
});
