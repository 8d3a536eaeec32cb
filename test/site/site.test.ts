/** The static site of the documents: nothing is lost on the way, nothing leads nowhere, and what is generated says what the program says. */
import { beforeAll, expect, it } from 'vitest';
import { program } from '../../pipelines/cli/main.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { placeOf } from '../../scripts/site/documents.ts';
import { documentedErrors } from '../../scripts/site/errors.ts';
import type { Page } from '../../scripts/site/page.ts';
import { deadLinks, siteFiles, sitePages } from '../../scripts/site/site.ts';
import { tablesOf } from '../../scripts/site/tables.ts';
import { FILES, isData, read, TYPESCRIPT } from '../architecture/project.ts';
import { describeDatabase } from '../harness/database.ts';

describeDatabase('the site', (engine) => {
  let pages: readonly Page[];
  let files: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const database = await engine.openDatabase();
    await migrate(database, await loadSources());
    // Links that lead nowhere fail here.
    pages = await sitePages(await tablesOf(database));
    files = siteFiles(pages);
  });
  const bodyOf = (path: string): string => pages.find((page) => page.path === path)!.body;
  /** Text as a reader sees it. */
  const plain = (html: string): string => html.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_sign, number: string) => String.fromCharCode(Number(number)));

  it('has a page for each document, section and source, and each page is in the menu of the first', async () => {
    const documents = FILES.filter((file) => file.endsWith('.md') && !isData(file) && !file.startsWith('.') && !/^test\/.*\/notes\.md$/.test(file)).map((file) => placeOf(file)!.slice(1));
    const wanted = [...documents, ...SECTIONS.map(({ name }) => `sections/${name}.html`), ...(await loadSources()).map(({ id }) => `sources/${id}.html`)];
    expect(wanted.filter((path) => !files.has(path))).toEqual([]);
    const shown = pages.filter(({ below }) => below === null).filter(({ path }) => !files.get('index.html')!.includes(`href="${path}"`));
    expect(shown.map(({ path }) => path)).toEqual([]);
    expect(pages.filter(({ below }) => below !== null && !files.get(below)!.includes(`href="${below.replace(/[^/]*$/, '')}`) && !files.has(below)).map(({ path }) => path)).toEqual([]);
  });

  it('tells of a link to a page or a place that is not there', () => {
    const [first] = pages;
    const broken = { ...first!, body: '<a href="/nowhere.html">a</a><a href="#nowhere">b</a><a href="/commands.html#fetch">c</a>' };
    expect(deadLinks([broken, ...pages.slice(1)]).filter((line) => line.startsWith(`${first!.path}: `))).toEqual([`${first!.path}: /nowhere.html`, `${first!.path}: #nowhere`]);
  });

  it('asks no other host for anything, and needs no program of the browser', () => {
    for (const [path, text] of files) {
      expect([...text.replace(/<img alt="[^"]*" src="data:image\/jpeg;base64,[\w+/=]*">/g, '').matchAll(/<(?:script|img|iframe|object|embed|video|audio|source|base)\b|\son[a-z]+=|\bsrc=|@import|url\(/gi)].map(([found]) => `${path}: ${found}`)).toEqual([]);
      expect([...text.matchAll(/<link[^>]*href="([^"]*)"/g)].filter(([, href]) => !/^(?:\.\.\/)*site\.css$/.test(href!)).map(([found]) => found)).toEqual([]);
    }
  });

  it('says of each command what it does, with its options and examples', () => {
    const text = plain(bodyOf('commands.html'));
    const commands = program().commands.flatMap((command) => (command.commands.length === 0 ? [command] : command.commands));
    expect(commands.length).toBeGreaterThan(20);
    const missing = commands.flatMap((command) => [command.description(), ...command.options.flatMap(({ flags, description }) => [flags, description])])
      .map((words) => words.replaceAll('`', '')).filter((words) => !text.includes(words));
    expect(missing).toEqual([]);
    expect(text).toContain('npx mappale load-region molise --data ~/downloads');
  });

  it('says of each field and column of a section what it is', () => {
    for (const { name, tables, flat } of SECTIONS) {
      const text = plain(bodyOf(`sections/${name}.html`));
      const columns = Object.values(tables).flatMap((table) => Object.entries(table.columns).flatMap(([column, { description, null: empty = '' }]) => [column, description, empty]));
      expect([...columns, ...Object.keys(flat)].filter((words) => !text.includes(words.replaceAll('`', ''))), name).toEqual([]);
      // A row of fields without a meaning would end with an empty cell.
      const [fields] = bodyOf(`sections/${name}.html`).split('Columns of exports');
      expect(fields).not.toMatch(/<td><\/td><\/tr>/);
    }
  });

  it('says of each source its publisher, licence, words to be shown, and the sections that it feeds', async () => {
    const feeds = new Set<string>();
    for (const { id, manifest: { attribution, ignored } } of await loadSources()) {
      const text = plain(bodyOf(`sources/${id}.html`));
      expect([attribution.holder, attribution.license, attribution.text, ...Object.keys(ignored)].filter((words) => !text.includes(words)), id).toEqual([]);
      for (const [, section] of bodyOf(`sources/${id}.html`).matchAll(/href="\/sections\/([a-z_]+)\.html"/g)) feeds.add(section!);
    }
    expect(SECTIONS.map(({ name }) => name).filter((name) => !feeds.has(name))).toEqual([]);
  });

  it('lists every error that the code names, each with what to do', () => {
    const told = documentedErrors();
    // As they stand in the code, found in another way: a name beside its kind, or in what makes errors of input.
    const named = new Set(TYPESCRIPT.filter((file) => /^(pipelines|api|sources)\//.test(file) && !/\.test\.ts$|\/synthetic/.test(file)).flatMap((file) =>
      [...read(file).matchAll(/\bcode: '([A-Z][A-Z0-9_]+)', (?:kind|at)\b/g)].map((match) => match[1]!)));
    expect(named.size).toBeGreaterThan(100);
    const findings = new Set([...read('pipelines/operate/validate.ts').matchAll(/level: '(?:warn|error|info)', code: '([A-Z_]+)'/g)].map((match) => match[1]!));
    expect([...named].filter((code) => !findings.has(code) && !told.some((each) => each.code === code))).toEqual([]);
    const helpless = [...new Set(told.filter(({ kind }) => kind !== 'bug').map(({ code }) => code))].filter((code) => told.filter((each) => each.code === code).every(({ hint, fix }) => hint === '' && fix === ''));
    expect(helpless).toEqual([]);
    const commands = new RegExp(`(?<!npx )\\bmappale (?:${program().commands.map((command) => command.name()).join('|')})\\b`);
    expect(told.flatMap(({ code, hint, fix }) => [hint, fix].filter((each) => commands.test(each)).map((each) => `${code}: ${each}`))).toEqual([]);
    const text = plain(bodyOf('errors.html'));
    expect([...new Set(told.map(({ code }) => code))].filter((code) => !text.includes(code))).toEqual([]);
  });
});
