/** Tests that the files of `scripts/deploy/` and `compose.yaml` run the program with few rights, and that alerts use existing metrics. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeState } from '../../pipelines/operate/metrics.ts';
import { read, ROOT } from '../harness/architecture/project.ts';

const UNITS = ['mappale-watch.service', 'mappale-serve.service'] as const;
const ANALYZE = '/usr/bin/systemd-analyze';

/** Returns the settings of a unit by name. If a setting is repeated, the last value is returned. */
function settingsOf(unit: string): ReadonlyMap<string, string> {
  return new Map([...read(`scripts/deploy/${unit}`).matchAll(/^([A-Za-z]+)=(.*)$/gm)].map((match) => [match[1]!, match[2]!]));
}

describe.each(UNITS)('the systemd unit %s', (unit) => {
  const settings = settingsOf(unit);

  it('runs as an ordinary user without capabilities and with a read-only system', () => {
    expect(settings.get('User')).toBe('mappale');
    expect(Object.fromEntries(['NoNewPrivileges', 'CapabilityBoundingSet', 'ProtectSystem', 'ProtectHome', 'PrivateTmp'].map((name) => [name, settings.get(name)])))
      .toEqual({ NoNewPrivileges: 'yes', CapabilityBoundingSet: '', ProtectSystem: 'strict', ProtectHome: 'yes', PrivateTmp: 'yes' });
  });

  it('allows Node writable executable memory, and local and network sockets', () => {
    expect(settings.has('MemoryDenyWriteExecute')).toBe(false);
    expect(settings.get('RestrictAddressFamilies')).toBe('AF_UNIX AF_INET AF_INET6');
    expect(settings.has('PrivateNetwork')).toBe(false);
  });

  it('may write to every folder that its command names', () => {
    const folders = [...(settings.get('ExecStart') ?? '').matchAll(/--(?:data|metrics-file) (\S+)/g)].map((match) => match[1]!);
    const writable = (settings.get('ReadWritePaths') ?? '').split(' ');
    expect(folders.filter((path) => !writable.some((folder) => path === folder || path.startsWith(`${folder}/`)))).toEqual([]);
  });

  it.skipIf(!existsSync(ANALYZE))(existsSync(ANALYZE) ? 'has an exposure below 3.0' : 'has an exposure below 3.0 [not run, no systemd-analyze]', () => {
    // The command fails if the exposure of a unit is above the threshold, which is in tenths.
    const report = execFileSync(ANALYZE, ['security', '--offline=yes', '--threshold=30', '--no-pager', join(ROOT, 'scripts/deploy', unit)], { encoding: 'utf8' });
    expect(report).toMatch(/Overall exposure level for .*: [0-2]\.\d /);
  });
});

describe('compose.yaml', () => {
  interface Service {
    readonly environment: Readonly<Record<string, string>>;
    readonly restart?: string;
    readonly shm_size?: string;
    readonly volumes?: readonly string[];
    readonly healthcheck?: { readonly test: readonly string[] };
    readonly depends_on?: Readonly<Record<string, unknown>>;
  }
  const { services } = parse(read('compose.yaml')) as { services: Readonly<Record<'database' | 'load' | 'mappale', Service>> };

  it('serves with a role that is neither a superuser nor the owner of the tables', () => {
    expect([services.load, services.mappale].map(({ environment }) => environment['DATABASE_URL'])).toEqual(['postgres://mappale@database/italy', 'postgres://reader@database/italy']);
    const init = services.database.volumes!.find((volume) => volume.includes('docker-entrypoint-initdb.d'))!.split(':')[0]!;
    const script = read(init.replace(/^\.\//, ''));
    expect(script).toMatch(/create role mappale login password :'owner_password';/);
    expect(script).toMatch(/create role reader login .* in role mappale_api;/);
    expect(script).not.toMatch(/superuser/);
  });

  it('creates tables only after the image has created the database and PostgreSQL listens on TCP', () => {
    expect(services.load.depends_on).toEqual({ database: { condition: 'service_healthy' } });
    expect(services.database.healthcheck!.test.join(' ')).toMatch(/^CMD-SHELL pg_isready --host 127\.0\.0\.1 /);
  });

  it('restarts the database and the server, gives the database shared memory, and contains no password', () => {
    expect([services.database.restart, services.mappale.restart, services.database.shm_size]).toEqual(['unless-stopped', 'unless-stopped', '1gb']);
    const passwords = Object.values(services).flatMap(({ environment }) => Object.entries(environment).filter(([name]) => /PASSWORD/.test(name)).map(([, value]) => value));
    expect(passwords.length).toBeGreaterThan(3);
    expect(passwords.filter((value) => !/^\$\{[A-Z_]+(?::\?[^}]*)?\}$/.test(value))).toEqual([]);
  });
});

describe('the Kubernetes CronJob', () => {
  interface Container {
    readonly securityContext: object;
    readonly resources: { readonly requests: object; readonly limits: object };
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }
  interface Pod {
    readonly securityContext: object;
    readonly containers: readonly Container[];
    readonly volumes: readonly { readonly name: string }[];
  }
  interface CronJob {
    readonly spec: {
      readonly timeZone: string;
      readonly concurrencyPolicy: string;
      readonly jobTemplate: { readonly spec: { readonly template: { readonly spec: Pod } } };
    };
  }
  const { spec } = parse(read('scripts/deploy/cronjob.yaml')) as CronJob;
  const pod = spec.jobTemplate.spec.template.spec;
  const [container] = pod.containers as [Container];

  it('runs on Italian time, and never starts a second run during the first', () => {
    expect([spec.timeZone, spec.concurrencyPolicy]).toEqual(['Europe/Rome', 'Forbid']);
  });

  it('runs without root on a read-only disk, with writable volumes for downloads and temporary files', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, fsGroup: 1000 });
    expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/data', '/tmp']);
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(pod.volumes.map(({ name }) => name).sort());
  });

  it('states the memory and CPU of its container', () => {
    for (const amounts of [container.resources.requests, container.resources.limits]) expect(Object.keys(amounts).sort()).toEqual(['cpu', 'memory']);
  });
});

describe('the alerts and the dashboard', () => {
  interface Rule {
    readonly alert: string;
    readonly expr: string;
    readonly labels: { readonly severity: string };
    readonly annotations: { readonly summary: string; readonly runbook: string };
  }
  const { groups } = parse(read('scripts/deploy/prometheus-rules.yaml')) as { groups: readonly { readonly rules: readonly Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  interface Dashboard {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  }
  const { panels } = JSON.parse(read('scripts/deploy/grafana-dashboard.json')) as Dashboard;
  const used = [...rules.map(({ expr }) => expr), ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))];

  it('use only metrics that the program exports', async () => {
    const lists = { regions: [], sources: [], warnings: [], succeeded: [], failures: [], refusals: [], held: [] };
    const state = { ...lists, databaseBytes: 0, previousBytes: 0, refreshed: { exitCode: 0, ended: 0 } };
    const described = await describeState(state, 'now', []);
    const code = ['api/metrics.ts', 'api/workers.ts'].filter((file) => existsSync(join(ROOT, file))).map(read).join('\n');
    const served = new Set([...described.matchAll(/^# TYPE (mappale_\w+)/gm), ...code.matchAll(/name: '(mappale_\w+)'/g)].map((match) => match[1]!));
    const named = [...new Set(used.flatMap((expr) => [...expr.matchAll(/mappale_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''))))];
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !served.has(name))).toEqual([]);
  });

  it('have a severity, a summary and a runbook for each alert, and docs/alerts.md lists the same alerts', () => {
    expect(rules.length).toBeGreaterThanOrEqual(10);
    const page = read('docs/alerts.md');
    expect(rules.filter(({ labels }) => !/^(?:info|warning|critical)$/.test(labels.severity))).toEqual([]);
    expect(rules.filter(({ annotations }) => annotations.summary === '' || annotations.runbook === '')).toEqual([]);
    expect([...page.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]).sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });
});
