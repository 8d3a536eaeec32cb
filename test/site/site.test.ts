/** The static site of the documents: nothing is lost, no link is dead, and generated pages agree with the program. */
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
    // Dead links fail here.
    pages = await sitePages(await tablesOf(database));
    files = siteFiles(pages);
  });
  const bodyOf = (path: string): string => pages.find((page) => page.path === path)!.body;
  /** Returns the text as a reader sees it. */
  const plain = (html: string): string => html.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_sign, number: string) => String.fromCharCode(Number(number)));

  it('has a page for each document, section and source, and every page is in the menu of the first', async () => {
    const documents = FILES.filter((file) => file.endsWith('.md') && !isData(file) && !file.startsWith('.') && !/^test\/.*\/notes\.md$/.test(file)).map((file) => placeOf(file)!.slice(1));
    const wanted = [...documents, ...SECTIONS.map(({ name }) => `sections/${name}.html`), ...(await loadSources()).map(({ id }) => `sources/${id}.html`)];
    expect(wanted.filter((path) => !files.has(path))).toEqual([]);
    const shown = pages.filter(({ below }) => below === null).filter(({ path }) => !files.get('index.html')!.includes(`href="${path}"`));
    expect(shown.map(({ path }) => path)).toEqual([]);
    expect(pages.filter(({ below }) => below !== null && !files.get(below)!.includes(`href="${below.replace(/[^/]*$/, '')}`) && !files.has(below)).map(({ path }) => path)).toEqual([]);
  });

  it('reports a link to a page or an anchor that does not exist', () => {
    const [first] = pages;
    const broken = { ...first!, body: '<a href="/nowhere.html">a</a><a href="#nowhere">b</a><a href="/commands.html#fetch">c</a>' };
    expect(deadLinks([broken, ...pages.slice(1)]).filter((line) => line.startsWith(`${first!.path}: `))).toEqual([`${first!.path}: /nowhere.html`, `${first!.path}: #nowhere`]);
  });

  it('requests nothing from other hosts, and needs no script in the browser', () => {
    for (const [path, text] of files) {
      expect([...text.replace(/<img alt="[^"]*" src="data:image\/jpeg;base64,[\w+/=]*">/g, '').matchAll(/<(?:script|img|iframe|object|embed|video|audio|source|base)\b|\son[a-z]+=|\bsrc=|@import|url\(/gi)].map(([found]) => `${path}: ${found}`)).toEqual([]);
      expect([...text.matchAll(/<link[^>]*href="([^"]*)"/g)].filter(([, href]) => !/^(?:\.\.\/)*site\.css$/.test(href!)).map(([found]) => found)).toEqual([]);
    }
  });

  it('describes each command with its options and examples', async () => {
    const text = plain(bodyOf('commands.html'));
    const commands = (await program()).commands.flatMap((command) => (command.commands.length === 0 ? [command] : command.commands));
    expect(commands.length).toBeGreaterThan(20);
    const missing = commands.flatMap((command) => [command.description(), ...command.options.flatMap(({ flags, description }) => [flags, description])])
      .map((words) => words.replaceAll('`', '')).filter((words) => !text.includes(words));
    expect(missing).toEqual([]);
    expect(text).toContain('npx mappale load-region molise --data ~/downloads');
  });

  it('describes each field and column of a section', () => {
    for (const { name, tables, flat } of SECTIONS) {
      const text = plain(bodyOf(`sections/${name}.html`));
      const columns = Object.values(tables).flatMap((table) => Object.entries(table.columns).flatMap(([column, { description, null: empty = '' }]) => [column, description, empty]));
      expect([...columns, ...Object.keys(flat)].filter((words) => !text.includes(words.replaceAll('`', ''))), name).toEqual([]);
      // A field without a description would end its row with an empty cell.
      const [fields] = bodyOf(`sections/${name}.html`).split('Columns of exports');
      expect(fields).not.toMatch(/<td><\/td><\/tr>/);
    }
  });

  it('shows for each source its publisher, licence, attribution, and the sections that use it', async () => {
    const feeds = new Set<string>();
    for (const { id, manifest: { attribution, ignored } } of await loadSources()) {
      const text = plain(bodyOf(`sources/${id}.html`));
      expect([attribution.holder, attribution.license, attribution.text, ...Object.keys(ignored)].filter((words) => !text.includes(words)), id).toEqual([]);
      for (const [, section] of bodyOf(`sources/${id}.html`).matchAll(/href="\/sections\/([a-z_]+)\.html"/g)) feeds.add(section!);
    }
    expect(SECTIONS.map(({ name }) => name).filter((name) => !feeds.has(name))).toEqual([]);
  });

  it('lists every error in the code, each with a hint', async () => {
    const told = documentedErrors();
    // The codes found in another way: a name next to its kind, or an argument of functions that create input errors.
    const named = new Set(TYPESCRIPT.filter((file) => /^(pipelines|api|sources)\//.test(file) && !/\.test\.ts$|\/synthetic/.test(file)).flatMap((file) =>
      [...read(file).matchAll(/\bcode: '([A-Z][A-Z0-9_]+)', (?:kind|at)\b/g)].map((match) => match[1]!)));
    expect(named.size).toBeGreaterThan(100);
    const findings = new Set([...read('pipelines/operate/validate.ts').matchAll(/level: '(?:warn|error|info)', code: '([A-Z_]+)'/g)].map((match) => match[1]!));
    expect([...named].filter((code) => !findings.has(code) && !told.some((each) => each.code === code))).toEqual([]);
    const helpless = [...new Set(told.filter(({ kind }) => kind !== 'bug').map(({ code }) => code))].filter((code) => told.filter((each) => each.code === code).every(({ hint, fix }) => hint === '' && fix === ''));
    expect(helpless).toEqual([]);
    const commands = new RegExp(`(?<!npx )\\bmappale (?:${(await program()).commands.map((command) => command.name()).join('|')})\\b`);
    expect(told.flatMap(({ code, hint, fix }) => [hint, fix].filter((each) => commands.test(each)).map((each) => `${code}: ${each}`))).toEqual([]);
    const text = plain(bodyOf('errors.html'));
    expect([...new Set(told.map(({ code }) => code))].filter((code) => !text.includes(code))).toEqual([]);
  });
});
