/** Tests that loaded data and responses are the same, byte for byte, in a database with unusual default settings. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tileAt } from '../../pipelines/formats/vector-tile.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { DOCUMENT, serviceOn, type Service } from '../api/harness.ts';
import { currentContent } from '../harness/published.ts';
import { describeEngines } from '../harness/database.ts';
import { today } from '../harness/days.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';

/** Unusual settings. Each can change the result of a statement, change the rows that a statement finds, or end a statement early. */
const ODD: Readonly<Record<string, string>> = {
  timezone: 'Asia/Tokyo', datestyle: 'SQL, DMY', intervalstyle: 'iso_8601', extra_float_digits: '-15', bytea_output: 'escape', xmlbinary: 'hex', array_nulls: 'off',
  standard_conforming_strings: 'off', backslash_quote: 'off', transform_null_equals: 'on', quote_all_identifiers: 'on', search_path: 'pg_catalog', gin_fuzzy_search_limit: '2',
  'pg_trgm.similarity_threshold': '0.9', default_transaction_isolation: 'serializable', default_transaction_deferrable: 'on', client_encoding: 'LATIN1', row_security: 'off',
  statement_timeout: '300ms', lock_timeout: '1ms', idle_in_transaction_session_timeout: '1ms', default_text_search_config: 'simple', check_function_bodies: 'off',
};

/** Matches the fields `published_at` and `in_force_since`, whose values differ between any two publications. */
const OWN_TIMES = /("(?:published_at|in_force_since)" ?: ?)"[^"]+"/g;

describeEngines('a database with unusual session settings', (engine) => {
  const made: Service[] = [];

  beforeAll(async () => {
    const files = await syntheticFiles(300, 11, { comuni: 2 });
    try {
      for (const settings of [{}, ODD]) {
        const url = await engine.createDatabase();
        // The settings apply only to connections that are opened afterwards.
        const admin = await engine.openDatabase(url);
        for (const [name, value] of Object.entries(settings)) await admin.query(`alter database ${new URL(url).pathname.slice(1)} set ${name} = ${value.includes(',') ? value : `'${value}'`}`);
        const database = await engine.openDatabase(url);
        const { failures } = await refresh(await contextOn(database), loadOptions([files.folder], [files.region.code]));
        expect(failures).toEqual([]);
        made.push(await serviceOn(database, url));
      }
    } finally {
      await files.remove();
    }
  });
  afterAll(() => Promise.all(made.map((service) => service.close())));

  it('stores the same rows as a database with default settings', async () => {
    const [plain, odd] = [await currentContent(made[0]!.database), await currentContent(made[1]!.database)];
    expect(Object.keys(plain).length).toBeGreaterThan(30);
    expect(odd).toEqual(plain);
  });

  it('returns the same responses as a database with default settings', async () => {
    const [parcel] = await made[0]!.database.query<{ fid: number; lat: number; lng: number }>(
      "select fid, st_y(c) as lat, st_x(c) as lng from (select fid, st_transform(st_pointonsurface(geom), 4326) as c from core.parcel where kind = 'land' order by fid limit 1) p",
    );
    const { fid, lat, lng } = parcel!;
    const tile = (zoom: number): string => {
      const { z, x, y } = tileAt(zoom, lng, lat);
      return `${z}/${x}/${y}`;
    };
    const examples = Object.entries(DOCUMENT.paths).filter(([path, { get }]) => !path.includes('{') && (get.security.length > 0 || path.startsWith('/ogc'))).map(([path, { get }]) => {
      const given = get.parameters.filter((parameter) => parameter.example !== undefined).map((parameter) => `${parameter.name}=${encodeURIComponent(String(parameter.example))}`);
      return `${path}?${given.join('&')}`;
    });
    const questions = [
      ...examples, ...Array.from({ length: 20 }, (_, index) => `/parcels/${fid + index * 7}`), `/parcels/${fid}?as_of=${await today(made[0]!.database)}`,
      `/parcels/locate?lat=${lat}&lng=${lng}`, `/geocode/reverse?lat=${lat}&lng=${lng}&radius=500`, ...['via roma 5', 'Corso Vitorio Emanuele 12/A', 'piaza garibaldi'].map((q) => `/geocode/search?q=${encodeURIComponent(q)}`),
      '/admin/municipalities/Z001/quality', '/ogc/collections/parcels/items?limit=5', `/tiles/${tile(14)}`, `/tiles/${tile(16)}`,
    ];
    const [plain, odd] = await Promise.all(made.map(async (service) => {
      const key = await service.token();
      const answers: string[] = [];
      for (const question of questions) {
        const { status, text } = await service.ask(question, { key });
        answers.push(`${question} ${status} ${text.replace(OWN_TIMES, '$1')}`);
      }
      return answers;
    }));
    expect(plain!.filter((each) => / 200 /.test(each)).length).toBeGreaterThan(25);
    expect(odd).toEqual(plain);
  });
}, ['postgres']);
