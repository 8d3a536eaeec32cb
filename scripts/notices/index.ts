/**
 * Writes `sbom.json` (CycloneDX, by npm) and `third-party-notices.txt` from `package-lock.json` and `node_modules`.
 *
 * npm run notices
 *
 * Use npm 10, which Node.js 20 and 22 include, because npm 11 omits the hashes of some bundled packages. The files have no timestamps or serial numbers.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LICENCE_FILE = /^(?:licen[cs]e|copying|unlicense|notice)/i;

interface Locked {
  /** Original name of a package that npm installs under an alias. */
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly os?: readonly string[];
}

interface Property {
  readonly name: string;
}

interface Component {
  readonly 'bom-ref': string;
  readonly hashes?: readonly unknown[];
  name: string;
  properties?: Property[];
}

interface Sbom {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: Component; readonly tools: { version?: string }[] };
  components: Component[];
  dependencies: { readonly ref: string; readonly dependsOn: string[] }[];
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as T;
}

/** Returns an SBOM without the values that depend on the time, the folder and the version of npm, with sorted lists. */
function reproducible(sbom: Sbom): Sbom {
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  for (const tool of sbom.metadata.tools) delete tool.version;
  sbom.metadata.component.name = readJson<{ name: string }>('package.json').name;
  for (const component of [sbom.metadata.component, ...sbom.components]) {
    component.properties = component.properties?.filter(({ name }) => name !== 'cdx:npm:package:path');
    if (component.properties?.length === 0) delete component.properties;
  }
  // Keeps one of several components with the same reference, because CycloneDX requires unique references. npm 10 repeats a package that is installed in
  // several folders.
  const weight = ({ hashes, properties = [] }: Component): number => properties.length + (hashes === undefined ? 0.5 : 0);
  const byWeight = sbom.components.toSorted((a, b) => weight(b) - weight(a));
  sbom.components = [...new Map(byWeight.map((component) => [component['bom-ref'], component])).values()];
  sbom.components.sort((a, b) => order(a['bom-ref'], b['bom-ref']));
  const children = new Map<string, string[]>();
  for (const { ref, dependsOn } of sbom.dependencies) children.set(ref, [...(children.get(ref) ?? []), ...dependsOn]);
  sbom.dependencies = [...children].map(([ref, dependsOn]) => ({ ref, dependsOn: [...new Set(dependsOn)].sort(order) }));
  sbom.dependencies.sort((a, b) => order(a.ref, b.ref));
  return sbom;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the SBOM as JSON with one component per line, so that the file is small and diffs are readable. */
function sbomText(sbom: Sbom): string {
  const list = (values: readonly unknown[]): string => `[\n${values.map((value) => JSON.stringify(value)).join(',\n')}\n]`;
  const fields = Object.entries(sbom).map(([name, value]) => `${JSON.stringify(name)}: ${Array.isArray(value) ? list(value) : JSON.stringify(value)}`);
  return `{\n${fields.join(',\n')}\n}\n`;
}

/** Returns the paths of a package's licence files, or a note if the paths are not available. */
function licenceFiles(folder: string, { os }: Locked): string {
  // npm installs a package with `os` only on the listed platforms, but the notices must not depend on the platform.
  if (os !== undefined) return 'see the installed package on the platform';
  if (!existsSync(join(ROOT, folder))) throw new Error(`${folder} is not installed. Run npm ci first.`);
  const files = readdirSync(join(ROOT, folder)).filter((file) => LICENCE_FILE.test(file)).sort();
  return files.length === 0 ? 'the package has no licence file' : files.map((file) => `${folder}/${file}`).join(' ');
}

function noticesText(): string {
  const { exceptions } = readJson<{ exceptions: Readonly<Record<string, { readonly licence: string }>> }>('scripts/notices/policy.json');
  const packages = Object.entries(readJson<{ packages: Readonly<Record<string, Locked>> }>('package-lock.json').packages);
  const lines = packages.filter(([folder, { dev }]) => folder !== '' && dev !== true).map(([folder, locked]) => {
    const name = locked.name ?? folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return [name, locked.version, exceptions[name]?.licence ?? locked.license, licenceFiles(folder, locked)].join('\t');
  });
  return `Third-party packages that mappale installs: name, version, licence, licence files. Written by npm run notices.\n\n${[...new Set(lines)].sort().join('\n')}\n`;
}

const sbom = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
writeFileSync(join(ROOT, 'sbom.json'), sbomText(reproducible(JSON.parse(sbom) as Sbom)));
writeFileSync(join(ROOT, 'third-party-notices.txt'), noticesText());
