/**
 * Writes the compiled modules, SQL and pages that the npm package and the image run, below `dist/`.
 *
 *   npm run build                the whole program: this script, then snapshot.ts
 *   npm run compile -- FOLDER    this script, into a different folder, for tests
 */
import '../help.ts';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { LIBRARIES, LIBRARY_FOLDER } from '../../api/libraries.ts';
import { ROOT } from '../../pipelines/config.ts';
import { sqlFacts } from '../../pipelines/contract/fingerprint.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { computedDigests, DIGESTS_FILE, tableFiles } from '../../pipelines/contract/sql-files.ts';
import { partsOf } from '../../pipelines/db/state.ts';

const DIST = resolve(ROOT, process.argv[2] ?? 'dist');
const FOLDERS = ['pipelines', 'sources', 'sql', 'api', 'cli'] as const;

/** Matches files that only a checkout needs: TypeScript, test data, descriptions, and the modules that load TypeScript. */
const LEFT = /\.ts$|(?:^|\/)(?:fixture|golden)(?:\/|$)|(?:^|\/)README\.md$|^pipelines\/(?:plain-packages|formats\/thread)\.mjs$/;

const LICENCE = /^(?:licen[cs]e|notice)/i;

rmSync(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [createRequire(import.meta.url).resolve('typescript/bin/tsc'), '-p', 'tsconfig-build.json', '--outDir', DIST], { cwd: ROOT, stdio: 'inherit' });
checkImports();
copyFiles();
copyLibraries();
writeManifest();
await writeDigests();

/**
 * Checks that no compiled module imports a TypeScript file, because tsc leaves the extension of some dynamic imports unchanged.
 * @throws Error if a compiled module imports a TypeScript file
 */
function checkImports(): void {
  for (const entry of readdirSync(DIST, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.js')) continue;
    const path = join(entry.parentPath, entry.name);
    const [found] = /^\s*(?!\/\/|\*).*\b(?:import\(|from )'\.[^']*\.ts'/m.exec(readFileSync(path, 'utf8')) ?? [];
    if (found !== undefined) throw new Error(`expected an import of a .js file in ${path}, found ${found.trim()}. Give the function with this import a return type`);
  }
}

function copyFiles(): void {
  for (const folder of FOLDERS) {
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(ROOT.length);
      if (entry.isFile() && !LEFT.test(path)) cpSync(join(ROOT, path), join(DIST, path));
    }
  }
  chmodSync(join(DIST, 'pipelines/mappale.mjs'), 0o755);
}

/** Copies the files of npm packages that a browser loads, and the licences of these packages. */
function copyLibraries(): void {
  const packages = join(ROOT, 'node_modules');
  for (const [name, files] of Object.entries(LIBRARIES)) {
    const target = join(DIST, LIBRARY_FOLDER, name);
    mkdirSync(target, { recursive: true });
    const licences = readdirSync(join(packages, name)).filter((file) => LICENCE.test(file));
    for (const file of [...files, ...licences]) cpSync(join(packages, name, file), join(target, basename(file)));
  }
}

/** Writes the part of `package.json` that the program reads at run time. */
function writeManifest(): void {
  const { name, version, license, type } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, string>;
  writeFileSync(join(DIST, 'package.json'), `${JSON.stringify({ name, version, license, type }, null, 2)}\n`);
}

/**
 * Writes the digests of all SQL files, and the functions that the files call. Computing the digests at run time would take a third of the time of a short
 * command.
 */
async function writeDigests(): Promise<void> {
  const sources = await loadSources();
  // Reading a property computes the digest.
  const digests = [...partsOf(sources).map(({ file }) => file.digest), ...sources.map((source) => source.facts)];
  if (digests.length === 0) throw new Error('expected sources, found none');
  for (const file of tableFiles()) sqlFacts(file);
  writeFileSync(join(DIST, DIGESTS_FILE), JSON.stringify(computedDigests()));
}
