/** Tests the packages, actions and images that mappale uses. Committed lists must be current, licences permitted, and references pinned or listed. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FILES, read, ROOT } from '../harness/architecture/project.ts';

interface Locked {
  /** Original name of a package that is installed under an alias. */
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
}

interface Component {
  readonly 'bom-ref': string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

interface Policy {
  readonly compatible: Readonly<Record<string, string>>;
  readonly exceptions: Readonly<Record<string, { readonly licence: string; readonly reason: string }>>;
  readonly 'not pinned': Readonly<Record<string, string>>;
}

const json = <T>(file: string): T => JSON.parse(read(file)) as T;
const policy = json<Policy>('scripts/notices/policy.json');
const packages = Object.entries(json<{ packages: Readonly<Record<string, Locked>> }>('package-lock.json').packages)
  .filter(([folder]) => folder !== '')
  .map(([folder, locked]) => ({ ...locked, folder, name: locked.name ?? folder.slice(folder.lastIndexOf('node_modules/') + 13) }));
const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();

describe('sbom.json', () => {
  const sbom = json<{ bomFormat: string; serialNumber?: string; metadata: { timestamp?: string }; components: Component[]; dependencies: { ref: string }[] }>('sbom.json');

  it('is a CycloneDX document without a timestamp or a serial number', () => {
    expect([sbom.bomFormat, sbom.serialNumber, sbom.metadata.timestamp]).toEqual(['CycloneDX', undefined, undefined]);
  });

  it('lists each package of package-lock.json with its version and hash (otherwise run npm run notices)', () => {
    const hashOf = ({ integrity = '' }: Locked): string => Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
    const byPurl = new Map<string, Locked[]>();
    for (const locked of packages) {
      const purl = `pkg:npm/${locked.name.replace(/^@/, '%40')}@${locked.version}`;
      byPurl.set(purl, [...(byPurl.get(purl) ?? []), locked]);
    }
    expect(sbom.components.map(({ purl }) => purl).sort()).toEqual([...byPurl.keys()].sort());
    const otherHash = sbom.components.filter(({ purl, hashes }) => !byPurl.get(purl)!.some((locked) => hashOf(locked) === (hashes?.[0]?.content ?? '')));
    expect(otherHash.map(({ purl }) => purl)).toEqual([]);
  });

  it('has one entry of dependencies for each package and for mappale', () => {
    expect(sbom.dependencies).toHaveLength(sbom.components.length + 1);
  });
});

describe('third-party-notices.txt', () => {
  const lines = read('third-party-notices.txt').trimEnd().split('\n').slice(2).map((line) => line.split('\t'));

  it('lists each package except development dependencies, with its version and licence (otherwise run npm run notices)', () => {
    const expected = packages.filter(({ dev }) => dev !== true).map(({ name, version, license }) => `${name} ${version} ${policy.exceptions[name]?.licence ?? license}`);
    expect(sorted(lines.map(([name, version, licence]) => `${name} ${version} ${licence}`))).toEqual(sorted(expected));
  });

  it('names every licence file of an installed package', () => {
    const wrong: string[] = [];
    for (const [name = '', , , files = ''] of lines) {
      if (files.startsWith('see the package')) continue;
      const folder = files.startsWith('node_modules/') ? files.slice(0, files.split(' ')[0]!.lastIndexOf('/')) : `node_modules/${name}`;
      if (!existsSync(join(ROOT, folder))) continue;
      const present = readdirSync(join(ROOT, folder)).filter((file) => /^(?:licen[cs]e|copying|unlicense|notice)/i.test(file)).sort().map((file) => `${folder}/${file}`);
      if (files !== (present.join(' ') || 'the package has no licence file')) wrong.push(name);
    }
    expect(wrong).toEqual([]);
  });
});

/** Returns whether an SPDX expression is permitted. All parts of AND must be permitted in at least one alternative of OR. */
function isPermitted(expression: string): boolean {
  return expression.replaceAll(/[()]/g, '').split(' OR ').some((choice) => choice.split(' AND ').every((id) => Object.hasOwn(policy.compatible, id)));
}

describe('the licence of each dependency', () => {
  it('is compatible with EUPL-1.2, or is an exception with a reason', () => {
    const refused = packages.filter(({ name, license = '' }) => policy.exceptions[name] === undefined && !isPermitted(license));
    expect(refused.map(({ name, license }) => `${name}: ${license ?? 'no licence'}`)).toEqual([]);
  });

  it.each(['GPL-3.0-only', 'MIT AND SSPL-1.0', 'UNLICENSED', ''])('is refused if the licence is %j', (expression) => {
    expect(isPermitted(expression)).toBe(false);
  });

  it('is on the list of exceptions only if necessary, with a reason', () => {
    const needed = packages.filter(({ license = '' }) => !isPermitted(license)).map(({ name }) => name);
    expect(Object.keys(policy.exceptions).sort()).toEqual(sorted(needed));
    expect(Object.values(policy.exceptions).filter(({ reason }) => reason.length < 20)).toEqual([]);
  });
});

describe('actions and images', () => {
  const REFERENCE = /^\s*(?:- )?(?:uses|image|container): *["']?([^\s"'#]+)["']?(?: *#.*)?$|^FROM (?:--\S+ )?(\S+)|MAPPALE_TEST_IMAGE'\] \|\| '([^']+)'/gm;
  const files = FILES.filter((file) => /(?:^|\/)Dockerfile|(?:^|\/)compose[^/]*\.ya?ml$|^\.github\/.*\.ya?ml$|^scripts\/deploy\/|^\.ci\/|^test\/harness\/environment\.ts$/.test(file));
  const references = files.flatMap((file) => [...read(file).matchAll(REFERENCE)].map((match) => (match[1] ?? match[2] ?? match[3])!));

  it('are pinned by digest or commit, or listed as unpinned with a reason', () => {
    expect(references.length).toBeGreaterThan(5);
    const open = references.filter((reference) => !/@(?:sha256:[0-9a-f]{64}|[0-9a-f]{40})$/.test(reference));
    expect(sorted(open)).toEqual(Object.keys(policy['not pinned']).sort());
    expect(Object.values(policy['not pinned']).filter((reason) => reason.length < 20)).toEqual([]);
  });
});

describe('the migration fixtures', () => {
  it('have a token that looks like an example, not like a secret', () => {
    const tokens = FILES.filter((file) => /^test\/migration\/fixture\/[^/]+\/about\.json$/.test(file)).map((file) => json<{ token: string }>(file).token);
    expect(tokens.length).toBeGreaterThan(0);
    for (const token of tokens) expect(token).toMatch(/^mpl_(?:made-for-tests-)+/);
  });
});
