/** Tests that a region has the same published rows in databases of different locales. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../pipelines/db/index.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeEngines } from '../harness/database.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';
import { publishedByReference } from '../harness/migration-fixture.ts';

/** Locale clauses of `create database`, by name. The operating system may lack the last two locales. */
const LOCALES = {
  C: "locale 'C'",
  'ICU tr': "locale_provider icu icu_locale 'tr' locale 'C'",
  'tr_TR.UTF-8': "locale 'tr_TR.UTF-8'",
  'it_IT.UTF-8': "locale 'it_IT.UTF-8'",
} as const;

describeEngines('a database with a different locale', (engine) => {
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  const created: string[] = [];
  let base: string;
  let expected: Record<string, string>;

  /** @returns the URL of a new database with the locale, or null if the operating system lacks the locale */
  const databaseIn = async (locale: string): Promise<string | null> => {
    const admin = await openDatabase(base);
    try {
      const url = new URL(base);
      url.pathname = `${url.pathname}_${created.length + 1}`;
      const made = await admin.query(`create database ${url.pathname.slice(1)} template template0 encoding 'UTF8' ${locale}`).then(() => true, (error: unknown) => {
        if (/invalid locale name/.test(String(error))) return false;
        throw error;
      });
      if (!made) return null;
      created.push(url.pathname.slice(1));
      return url.href;
    } finally {
      await admin.close();
    }
  };

  const publishedIn = async (url: string): Promise<Record<string, string>> => {
    const database = await engine.openDatabase(url);
    const context = await contextOn(database);
    const { failures } = await refresh(context, loadOptions([files.folder], null));
    expect(failures).toEqual([]);
    return publishedByReference(database);
  };

  beforeAll(async () => {
    base = await engine.createDatabase();
    files = await syntheticFiles(150, 32, { comuni: 3 });
    expected = await publishedIn((await databaseIn(LOCALES.C))!);
  });
  afterAll(async () => {
    await files.remove();
  });

  it('is compared with a database in locale C that publishes points of interest, cultural places and place names', () => {
    for (const relation of ['section.poi', 'section.cultural_heritage', 'core.place_name']) {
      expect(Object.entries(expected).filter(([key, value]) => key.endsWith(` ${relation}`) && !value.startsWith('0 rows')), relation).not.toEqual([]);
    }
  });

  for (const [name, locale] of Object.entries(LOCALES).slice(1)) {
    it(`publishes the same rows in ${name} as in locale C`, async (context) => {
      const url = await databaseIn(locale);
      if (url === null) context.skip(`the operating system has no locale ${name}`);
      expect(await publishedIn(url!)).toEqual(expected);
    });
  }
}, ['postgres']);
