/** Builds the site: writes all pages as Markdown into a temporary folder, and runs VitePress in this folder. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../pipelines/config.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { VERSION } from '../../pipelines/program.ts';
import { commandPage } from './commands.ts';
import type { SiteFacts } from './config.ts';
import { dictionaryPages } from './dictionary.ts';
import { documentFiles, documentPages, pageOf } from './documents.ts';
import { errorPage } from './error-page.ts';
import type { Page } from './markdown.ts';
import { navigationOf } from './navigation.ts';
import { sourcePages } from './source-pages.ts';
import type { DatabaseTable } from './tables.ts';

/** Paths of the pictures that documents show. */
const PICTURES = readdirSync(join(ROOT, 'docs')).filter((name) => /\.(?:jpg|png|svg)$/.test(name)).map((name) => `docs/${name}`);

/** Returns all pages of the site. @param tables tables of the database, for the data dictionary */
export async function sitePages(sources: readonly RegisteredSource[], tables: readonly DatabaseTable[]): Promise<Page[]> {
  return [...documentPages(), errorPage(), await commandPage(), ...dictionaryPages(sources, tables), ...await sourcePages(sources)];
}

/** Returns the page of each file and folder of the repository that has a page, so that links to files can be replaced with links to pages. */
function pagesOfRepository(sources: readonly RegisteredSource[]): Record<string, string> {
  const folders = [...sources.map(({ folder }) => folder), ...SECTIONS.map(({ name }) => `sql/sections/${name}`), 'docs/decisions'];
  const files = [...documentFiles(), ...folders, ...sources.map(({ folder }) => `${folder}/notes.md`), ...SECTIONS.map(({ name }) => `sql/sections/${name}/section.ts`)];
  return Object.fromEntries(files.map((file) => [file, pageOf(file)!]));
}

/**
 * Builds the site and replaces the output folder.
 * @param base URL path below which a web server serves the site
 * @throws Error with the output of VitePress, for example for a link to a page that does not exist
 */
export async function buildSite(out: string, base: string, tables: readonly DatabaseTable[]): Promise<readonly Page[]> {
  const sources = await loadSources();
  const pages = await sitePages(sources, tables);
  const folder = await mkdtemp(join(tmpdir(), 'mappale-site-'));
  try {
    await writeSource(folder, pages, {
      root: ROOT, version: VERSION, base, navigation: navigationOf(pages, readFileSync(join(ROOT, 'docs/README.md'), 'utf8')),
      pages: pagesOfRepository(sources), folders: Object.fromEntries(sources.map(({ id, folder: from }) => [`sources/${id}.md`, from])),
    });
    const built = join(folder, 'built');
    await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/vitepress/bin/vitepress.js'), 'build', folder, '--outDir', built], { maxBuffer: 1 << 26 });
    await rm(out, { recursive: true, force: true });
    await mkdir(dirname(out), { recursive: true });
    await moveFolder(built, out);
    return pages;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes pages, pictures and the configuration of VitePress. */
async function writeSource(folder: string, pages: readonly Page[], facts: SiteFacts): Promise<void> {
  const module = (name: string): string => JSON.stringify(join(ROOT, 'scripts/site', name));
  const files = [
    ...pages.map(({ path, markdown }) => [path, markdown] as const),
    ['.vitepress/config.mjs', `import { siteConfig } from ${module('config.ts')};\nexport default siteConfig(${JSON.stringify(facts)});\n`] as const,
    ['.vitepress/theme/index.mjs', `export { default } from ${module('theme.ts')};\n`] as const,
  ];
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  for (const picture of PICTURES) await cp(join(ROOT, picture), join(folder, picture));
  // Links node_modules, because the built pages import Vue.
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** Moves a folder. Copies the folder if the target is on a different file system. */
async function moveFolder(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    await cp(from, to, { recursive: true });
  });
}
