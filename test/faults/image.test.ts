/** Builds the image with Docker and tests a load, a read-only server with its health check, SIGTERM, the volume, and compose. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';

const BASES = ['node:22-bookworm-slim', 'postgis/postgis:16-3.4'];

function docker(...args: readonly string[]): boolean {
  return spawnSync('docker', args, { timeout: 300_000 }).status === 0;
}

function whatIsMissing(): string | null {
  if (!docker('info')) return 'no Docker engine answers';
  return BASES.find((base) => !docker('image', 'inspect', base) && !docker('pull', '--quiet', base)) ?? null;
}

const missing = whatIsMissing();

describe.skipIf(missing !== null)(`the image${missing === null ? '' : ` [not run: ${missing}]`}`, () => {
  it('loads the demo, serves from a read-only disk, ends on SIGTERM, keeps its volume, and runs in compose without superusers', () => {
    const { status, stdout } = spawnSync(join(ROOT, 'scripts/image.sh'), ['compose'], { encoding: 'utf8', timeout: 1_500_000 });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.replace(/^size: \d+ MB$/, 'size'))).toEqual([
      'size', 'user: node', 'exit code of the demo load: 0', 'health check: healthy', 'demo region in /health: "published":true', 'exit code after SIGTERM: 0',
      'parcel of the volume: 1400000001', 'exit code of compose up: 0', 'exit code of the load in compose: 0', 'demo region in /health of compose: "published":true',
    ]);
    expect(status).toBe(0);
  }, 1_600_000);
});
