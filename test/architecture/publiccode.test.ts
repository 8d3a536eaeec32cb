/** Tests that publiccode.yml has the keys and values that the schema of yml.publiccode.tools requires. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { read } from '../harness/architecture/project.ts';

const url = z.url({ protocol: /^https?$/ });
const date = z.iso.date();

/** The core of the schema, as published in June 2026. Unknown keys are refused. */
const SCHEMA = z.strictObject({
  publiccodeYmlVersion: z.literal('0'),
  name: z.string().min(1),
  url,
  landingURL: url.optional(),
  softwareVersion: z.string().optional(),
  releaseDate: date.optional(),
  platforms: z.array(z.string()).min(1),
  categories: z.array(z.enum(['geographic-information-systems', 'data-collection', 'data-analytics', 'data-visualization'])).optional(),
  developmentStatus: z.enum(['concept', 'development', 'beta', 'stable', 'obsolete']),
  softwareType: z.enum([...['mobile', 'iot', 'desktop', 'web', 'backend', 'other'].map((kind) => `standalone/${kind}`), 'addon', 'library', 'configurationFiles']),
  supports: z.array(z.strictObject({ id: z.url() })).optional(),
  intendedAudience: z.strictObject({
    countries: z.array(z.string().regex(/^[A-Z]{2}$/)), scope: z.array(z.enum(['local-authorities', 'environment', 'government', 'infrastructures'])),
  }).optional(),
  description: z.record(z.string().regex(/^[a-z]{2}$/), z.strictObject({
    shortDescription: z.string().max(150), longDescription: z.string().min(150).max(10_000), features: z.array(z.string()).min(1),
    documentation: url.optional(), apiDocumentation: url.optional(),
  })),
  legal: z.strictObject({ license: z.string() }),
  maintenance: z.strictObject({ type: z.enum(['internal', 'community', 'none']), contacts: z.array(z.strictObject({ name: z.string(), email: z.email().optional() })).min(1) }),
  localisation: z.strictObject({ localisationReady: z.boolean(), availableLanguages: z.array(z.string().regex(/^[a-z]{2}$/)).min(1) }),
  dependsOn: z.strictObject({ open: z.array(z.strictObject({ name: z.string(), versionMin: z.string().optional(), optional: z.boolean().optional() })) }),
});

describe('publiccode.yml', () => {
  const content: unknown = parse(read('publiccode.yml'));

  it('is valid', () => {
    expect(SCHEMA.safeParse(content).error?.issues ?? []).toEqual([]);
  });

  it('has the same values as package.json and the README', () => {
    const { name, softwareVersion, legal, dependsOn } = SCHEMA.parse(content);
    const packed = JSON.parse(read('package.json')) as { name: string; version: string; license: string; engines: { node: string } };
    expect([name, softwareVersion, legal.license]).toEqual([packed.name, packed.version, packed.license]);
    expect(packed.engines.node).toBe(`>=${dependsOn.open.find((each) => each.name === 'Node.js')?.versionMin}`);
    for (const { name: server, versionMin } of dependsOn.open.filter((each) => each.name.startsWith('Post'))) expect(read('README.md')).toContain(`${server} ≥ ${versionMin}`);
  });
});
