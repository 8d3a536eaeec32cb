/**
 * Tests the documentation site, which is built once. The site must have a page for each document, section and source. It must have no dead links, and must
 * request nothing from other hosts. The site must describe the commands, fields and errors of the program.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, posix } from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { program } from '../../cli/main.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { buildSite } from '../../scripts/site/build.ts';
import { pageOf } from '../../scripts/site/documents.ts';
import { documentedErrors } from '../../scripts/site/errors.ts';
import { tablesOf } from '../../scripts/site/tables.ts';
import { FILES, isData, read, TYPESCRIPT } from '../harness/architecture/project.ts';
import { describeDatabase } from '../harness/database.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.jpg': 'image/jpeg' };

/** The theme has the address of a host for icons of social links. The site has no such links. */
const ICONS = 'https://api.iconify.design/simple-icons/';

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#123;': '{', '&nbsp;': ' ' };

/** Returns the text of a page as a reader sees it. */
function plain(html: string): string {
  return html.replace(/<[^>]*>/g, '').replace(/&#?\w+;/g, (entity) => ENTITIES[entity] ?? entity);
}

/** Returns the texts that a page lacks, compared without backquotes and repeated spaces. */
function missing(texts: readonly string[], html: string): string[] {
  const spaced = (text: string): string => text.replaceAll('`', '').replace(/\s+/g, ' ').trim();
  const text = spaced(plain(html));
  return texts.filter((each) => !text.includes(spaced(each)));
}

/** Returns the links of each page to a page or an anchor that does not exist, as `page: address`. */
function deadLinks(files: ReadonlyMap<string, string>): string[] {
  const anchors = new Map([...files].map(([path, html]) => [path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => decodeURIComponent(match[1]!)))]));
  return [...files].flatMap(([page, html]) => [...html.matchAll(/<a\b[^>]*? href="([^"]*)"/g)].map((match) => match[1]!).filter((href) => {
    if (/^(?:https?|mailto):/.test(href)) return false;
    const [path = '', anchor] = href.split('#');
    const target = path === '' ? page : path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(page), path);
    const found = anchors.get(target === '' || target.endsWith('/') ? `${target}index.html` : target);
    return found === undefined || (anchor !== undefined && anchor !== '' && !found.has(decodeURIComponent(anchor)));
  }).map((href) => `${page}: ${href}`));
}

describeDatabase('the site', (engine) => {
  let folder: string;
  /** Content of pages, styles and scripts, by their path in the site. */
  const files = new Map<string, string>();
  const pages = new Map<string, string>();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mappale-site-test-'));
    const database = await engine.openDatabase();
    await migrate(database, await loadSources());
    await buildSite(join(folder, 'site'), '/', await tablesOf(database));
    for (const name of await readdir(join(folder, 'site'), { recursive: true })) {
      if (/\.(?:html|css|js)$/.test(name)) files.set(name.replaceAll('\\', '/'), await readFile(join(folder, 'site', name), 'utf8'));
      if (name.endsWith('.html') && name !== '404.html') pages.set(name.replaceAll('\\', '/'), files.get(name)!);
    }
  }, 600_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Returns the content of a page without its menu. */
  const contentOf = (path: string): string => /<main[^>]*>(.*)<\/main>/s.exec(pages.get(path)!)![1]!;

  it('has a page for each document, section and source, and lists every page in the menu of the first page', async () => {
    const documents = FILES.filter((file) => file.endsWith('.md') && !isData(file) && !file.startsWith('.') && !/^test\/.*\/notes\.md$/.test(file));
    const wanted = [
      ...documents.map((file) => pageOf(file)!), ...SECTIONS.map(({ name }) => `sections/${name}.md`), ...(await loadSources()).map(({ id }) => `sources/${id}.md`),
    ].map((path) => path.replace(/\.md$/, '.html'));
    expect(wanted.filter((path) => !pages.has(path))).toEqual([]);
    const menu = new Set([...pages.get('index.html')!.matchAll(/href="\/([^"#]*)"/g)].map(([, path]) => path!.replace(/^$|\/$/, (end) => `${end}index.html`)));
    expect([...pages.keys()].filter((path) => !menu.has(path))).toEqual([]);
  });

  it('has no link to a page or an anchor that does not exist', () => {
    expect(deadLinks(pages)).toEqual([]);
    const broken = '<a href="/nowhere.html">a</a><a href="#nowhere">b</a><a href="/commands.html#mappale-fetch">c</a>';
    expect(deadLinks(new Map([...pages, ['index.html', broken]])).filter((line) => line.startsWith('index.html: '))).toEqual(['index.html: /nowhere.html', 'index.html: #nowhere']);
  });

  it('requests nothing from other hosts', () => {
    for (const [path, text] of files) {
      // Only addresses of scripts, styles, pictures and fonts are checked. Links that a reader follows may lead anywhere.
      const loaded = [
        ...[...text.matchAll(/<(?:script|img|iframe|object|embed|video|audio|source|base)\b[^>]*/gi)].map(([tag]) => tag),
        ...[...text.matchAll(/<link\b[^>]*/gi)].map(([tag]) => tag),
        ...[...text.matchAll(/@import[^;]*|\burl\([^)]*\)|\b(?:fetch|import|importScripts|WebSocket|EventSource|sendBeacon)\(\s*["'`][^"'`]*/g)].map(([use]) => use),
      ].filter((use) => !use.includes(ICONS));
      expect(loaded.filter((use) => /["'`(=]\s*(?:https?:)?\/\/(?!www\.w3\.org\/2000\/svg)/i.test(use)), path).toEqual([]);
    }
  });

  it.skipIf(CHROMIUM === undefined)('requests nothing from other hosts in a browser, shows its text without scripts, and finds pages by their words', async () => {
    const server = createServer((request, response) => void readFile(join(folder, 'site', new URL(request.url!, 'http://site').pathname.replace(/\/$/, '/index.html')))
      .then((content) => response.setHeader('content-type', TYPES[extname(request.url!)] ?? 'text/html').end(content), () => response.writeHead(404).end()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--headless', '--no-sandbox', '--disable-quic', '--no-first-run'] });
    try {
      const asked = new Set<string>();
      const open = async (path: string, javaScriptEnabled: boolean) => {
        const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
        page.setDefaultTimeout(60_000);
        page.on('request', (request) => void asked.add(new URL(request.url()).origin));
        await page.goto(origin + path);
        return page;
      };
      const still = await open('/docs/tiles.html', false);
      expect(await still.locator('main h1').innerText()).toContain('Tiles');
      expect(await still.locator('.VPSidebar a[href="/docs/serving.html"]').isVisible()).toBe(true);
      const page = await open('/', true);
      await page.locator('#local-search button').click();
      await page.locator('.VPLocalSearchBox input').fill('Prometheus');
      await page.locator('.VPLocalSearchBox .result').first().click();
      await page.waitForURL((url) => url.pathname !== '/');
      expect([...asked]).toEqual([origin]);
    } finally {
      await browser.close();
      server.close();
    }
  });

  it('shows its text and its menu without scripts', () => {
    expect(missing(['mappale loads the files that Italy\'s public bodies publish into one PostGIS database'], contentOf('index.html'))).toEqual([]);
    expect(pages.get('docs/tiles.html')).toContain('href="/docs/serving.html"');
  });

  it('can be searched without a request to other hosts', () => {
    expect([...files.keys()].some((path) => /localSearchIndex/i.test(path))).toBe(true);
  });

  it('describes each command with its options and examples', async () => {
    const commands = (await program()).commands.flatMap((command) => (command.commands.length === 0 ? [command] : command.commands));
    expect(commands.length).toBeGreaterThan(20);
    const texts = commands.flatMap((command) => [command.description(), ...command.options.flatMap(({ flags, description }) => [flags, description])]);
    expect(missing([...texts, 'npx mappale load-region molise --data ~/downloads'], contentOf('commands.html'))).toEqual([]);
  });

  it('describes each field and column of a section', () => {
    for (const { name, tables, flat } of SECTIONS) {
      const content = contentOf(`sections/${name}.html`);
      const columns = Object.values(tables).flatMap((table) => Object.entries(table.columns).flatMap(([column, { description, null: empty = '' }]) => [column, description, empty]));
      expect(missing([...columns, ...Object.keys(flat)], content), name).toEqual([]);
      // A field without a description would end its row with an empty cell.
      const [fields] = content.split('Columns of exports');
      expect(fields).not.toMatch(/<td[^>]*><\/td>\s*<\/tr>/);
    }
  });

  it('shows the publisher, licence, attribution and sections of each source', async () => {
    const used = new Set<string>();
    for (const { id, manifest: { attribution, ignored } } of await loadSources()) {
      const content = contentOf(`sources/${id}.html`);
      expect(missing([attribution.holder, attribution.license, attribution.text, ...Object.keys(ignored)], content), id).toEqual([]);
      for (const [, section] of content.matchAll(/href="\/sections\/([a-z_]+)\.html"/g)) used.add(section!);
    }
    expect(SECTIONS.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });

  it('lists every error in the code, with a hint or a command for every error that is not a bug', async () => {
    const documented = documentedErrors();
    // Error codes that are found without the page's code. A code is next to a kind, or is an argument of a function that creates input errors.
    const named = new Set(TYPESCRIPT.filter((file) => /^(pipelines|api|cli|sources)\//.test(file) && !/\.test\.ts$|\/synthetic/.test(file)).flatMap((file) =>
      [...read(file).matchAll(/\bcode: '([A-Z][A-Z0-9_]+)', (?:kind|at)\b/g)].map((match) => match[1]!)));
    expect(named.size).toBeGreaterThan(100);
    const findings = new Set([...read('pipelines/operate/validate.ts').matchAll(/level: '(?:warn|error|info)', code: '([A-Z_]+)'/g)].map((match) => match[1]!));
    expect([...named].filter((code) => !findings.has(code) && !documented.some((each) => each.code === code))).toEqual([]);
    const codes = [...new Set(documented.filter(({ kind }) => kind !== 'bug').map(({ code }) => code))];
    expect(codes.filter((code) => documented.filter((each) => each.code === code).every(({ hint, fix }) => hint === '' && fix === ''))).toEqual([]);
    const commands = new RegExp(`(?<!npx )\\bmappale (?:${(await program()).commands.map((command) => command.name()).join('|')})\\b`);
    expect(documented.flatMap(({ code, hint, fix }) => [hint, fix].filter((each) => commands.test(each)).map((each) => `${code}: ${each}`))).toEqual([]);
    expect(missing(documented.map(({ code }) => code), contentOf('errors.html'))).toEqual([]);
  });
});
