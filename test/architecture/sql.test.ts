/** Tests that the headers of SQL files agree with their SQL, and tests the rules for indexes, checks, migrations, style and the functions of records. */
import { describe, expect, it } from 'vitest';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { firstFid, regionOfFid } from '../../pipelines/contract/regions.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { incrementalOf, parseSqlFile, readSectionFiles } from '../../pipelines/contract/sql-files.ts';
import { expectedObjects } from '../../pipelines/db/objects.ts';
import { partsOf } from '../../pipelines/db/state.ts';
import stations from '../stations/source.ts';
import { FILES, lineAt, read, SQL } from '../harness/architecture/project.ts';
import { code, created, header, headerValues, qualified, relations, shouted } from '../harness/architecture/sql-text.ts';

const KEYS = ['purpose', 'reads', 'writes', 'grain', 'crs'] as const;

/** Returns the violations in all files, as `file: message`. */
function everywhere(rule: (text: string, file: string) => readonly string[], files = SQL): string[] {
  return files.flatMap((file) => rule(read(file), file).map((violation) => `${file}: ${violation}`));
}

function names(text: string, key: 'reads' | 'writes'): string[] {
  return headerValues(text, key).flatMap((value) => relations(value) ?? []);
}

const unqualified = (name: string): string => name.slice(name.indexOf('.') + 1);

describe('the expected objects', () => {
  it('were written from the current SQL files (otherwise run npx vitest run test/pipelines/objects.test.ts -u)', async () => {
    expect(expectedObjects(partsOf(await loadSources()))?.files).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe('an SQL file', () => {
  it('begins with a header that has each line once, in order', () => {
    expect(SQL.length).toBeGreaterThan(10);
    expect(
      everywhere((text) => {
        const keys = header(text).flatMap((line) => KEYS.filter((key) => line.startsWith(`-- ${key}:`)));
        return keys.join() === KEYS.join() ? [] : [`expected the header ${KEYS.join(', ')}, found ${keys.join(', ') || 'none'}`];
      }),
    ).toEqual([]);
  });

  it('folds case with the functions of letter_case.sql, so that results do not depend on the locale of the database', () => {
    // On a column named run, lower and upper are range functions.
    const folding = /\b(?:lower|upper|initcap)\s*\((?!\w+\.run\))|~\*|\bilike\b|\bcitext\b/g;
    const files = SQL.filter((file) => !file.startsWith('sql/migrations/') && file !== 'sql/functions/letter_case.sql');
    expect(everywhere((text) => [...code(text).matchAll(folding)].map(({ 0: found, index }) => `line ${lineAt(text, index)}: ${found}`), files)).toEqual([]);
  });

  it('has a value in each line of the header', () => {
    expect(everywhere((text) => KEYS.filter((key) => headerValues(text, key).length === 0))).toEqual([]);
  });

  it('lists the relations that it reads and writes as schema.name, or none', () => {
    expect(
      everywhere((text) => (['reads', 'writes'] as const).flatMap((key) => headerValues(text, key).filter((value) => relations(value) === null).map((value) => `${key}: ${value}`))),
    ).toEqual([]);
  });

  it('reads only tables that another file writes or a source declares', async () => {
    const made = [...(await loadSources()), stations].flatMap(({ tables, layers }) => [
      ...Object.keys(tables).map((table) => `staging.${table}`),
      ...Object.keys(layers).map((layer) => `layer.${layer}`),
    ]);
    const written = new Set([...SQL.flatMap((file) => names(read(file), 'writes')), ...made]);
    expect(everywhere((text) => names(text, 'reads').filter((name) => !written.has(name)))).toEqual([]);
  });

  it('creates or fills all relations that its header lists as written', () => {
    expect(
      everywhere((text) => {
        const made = new Set(created(text).map(unqualified));
        const filled = code(text);
        return names(text, 'writes').filter((name) => !made.has(unqualified(name)) && !new RegExp(`\\b(insert\\s+into|update|delete\\s+from)\\s+(only\\s+)?${name.replace('.', '\\.')}\\b`).test(filled));
      }),
    ).toEqual([]);
  });

  it('creates no result as an unlogged table, because unlogged tables are empty after a crash of the server', () => {
    const unlogged = (text: string): string[] => [...code(text).matchAll(/\bcreate unlogged table (\w+) /g)].map(([, table]) => table!);
    expect(SQL.flatMap((file) => unlogged(read(file))).length).toBeGreaterThan(10);
    expect(
      everywhere((text) => {
        const results = names(text, 'writes').filter((name) => name.includes('.')).map(unqualified);
        return unlogged(text).filter((table) => results.includes(table));
      }),
    ).toEqual([]);
  });

  it('uses all relations that its header lists as read', () => {
    // A file with the header `reruns` also lists the relations of the section's SQL that it runs again, so the test skips the file.
    const isUnused = (text: string, file: string) => {
      const whole = code(parseSqlFile(file, text).text);
      return (name: string): boolean => !new RegExp(`\\b${unqualified(name)}\\b`).test(whole);
    };
    expect(everywhere((text, file) => headerValues(text, 'reruns').length > 0 ? [] : names(text, 'reads').filter(isUnused(text, file)))).toEqual([]);
  });

  it('lists every schema-qualified table of its SQL in its header', () => {
    expect(
      everywhere((text) => {
        const said = new Set([...names(text, 'reads'), ...names(text, 'writes')]);
        // Partitions of a table that the file creates are part of that table.
        const made = new Set(created(text));
        return qualified(text).filter((name) => !said.has(name) && !made.has(name));
      }),
    ).toEqual([]);
  });

  it('lists the relations that its steps read', () => {
    const stepsOf = (text: string): string[] => [...text.matchAll(/^-- step: (\S+)$/gm)].map(([, name]) => read(`sql/steps/${name}`));
    expect(SQL.filter((file) => stepsOf(read(file)).length > 0).length).toBeGreaterThan(5);
    expect(everywhere((text) => stepsOf(text).flatMap((step) => names(step, 'reads')).filter((name) => !names(text, 'reads').includes(name)))).toEqual([]);
  });

  it('copies unchanged rows by member only in core.parcel, and by parcel only in sections and their checks', () => {
    const incremental = SQL.filter((file) => headerValues(read(file), 'incremental').length > 0);
    expect(incremental.length).toBeGreaterThan(5);
    expect(
      everywhere((text, file) => {
        const [value] = headerValues(text, 'incremental');
        const by = incrementalOf(value!, file)!.by;
        if (by === 'members') return headerValues(text, 'writes').some((value) => relations(value)?.[0] === 'core.parcel') ? [] : ['only the parcels are copied by members'];
        if (by === 'content') return /^sql\/(?:core|sections\/[^/]+)\/[^/]+\.sql$/.test(file) && !/\/checks\.sql$/.test(file) ? [] : ['only tables may be built completely and compared'];
        // `mode()` over parcels depends on all parcels, and is allowed only after the line `-- citations of the facts`.
        const [compared = ''] = text.split(/^-- citations of the facts$/m);
        if (file.endsWith('/attribution.sql')) return by === 'parcels' && !/\bmode\(/.test(code(compared)) ? [] : ['each citation or fact must depend on one parcel'];
        // The new rows of a table include all parcels with the same value only if build.sql has the same `incremental` line.
        if (file.endsWith('/checks.sql') && by === 'sharing') return headerValues(read(file.replace('checks.sql', 'build.sql')), 'incremental')[0] === value ? [] : ['the table is not built with these parcels'];
        return /^(sql|test)\/sections\//.test(file) && /\bfid\b/.test(code(text)) ? [] : ['only sections and their checks are copied by parcels'];
      }, incremental),
    ).toEqual([]);
    expect(() => incrementalOf('rows of comuni', 'x.sql')).toThrow('x.sql: expected');
  });

  it('states the purpose of every index', () => {
    expect(
      everywhere((text) => {
        const lines = text.split('\n');
        return [...code(text).matchAll(/^[ \t]*create\s+(unique\s+)?index\b/gm)].flatMap((match) => {
          const line = lineAt(text, match.index + match[0].indexOf('create'));
          let above = line - 1;
          while (above > 0 && lines[above - 1]!.trimStart().startsWith('--')) above -= 1;
          const comment = lines.slice(above, line - 1);
          return comment.some((each) => /^\s*-- serves: \S/.test(each)) ? [] : [`line ${line}: an index without -- serves:`];
        });
      }),
    ).toEqual([]);
  });

  it('is written in lower case', () => {
    expect(everywhere((text) => shouted(text).map(({ word, offset }) => `line ${lineAt(text, offset)}: ${word}`))).toEqual([]);
  });

  it('contains no tabs and no trailing spaces', () => {
    expect(everywhere((text) => text.split('\n').flatMap((line, index) => (/\t|\s$/.test(line) ? [`line ${index + 1}`] : [])))).toEqual([]);
  });

  it('uses no UPDATE and no ON CONFLICT if the file is a build file or a load.sql', () => {
    const building = SQL.filter((file) => /^sql\/(core\/|sections\/[^/]+\/build)/.test(file) || /^sources\/[^/]+\/load\.sql$/.test(file));
    expect(everywhere((text) => [...code(text).matchAll(/\b(update\s+\w+(\.\w+)?\s+(as\s+)?(\w+\s+)?set|on\s+conflict)\b/g)].map((match) => `line ${lineAt(text, match.index)}: ${match[0]}`), building)).toEqual([]);
  });
});

describe('the range of fids of a region', () => {
  it('is only in the files that assign fids and in one function, and equals the program\'s range', () => {
    const written = SQL.flatMap((file) => [...code(read(file)).matchAll(/\b\d{8,}\b/g)].map(([digits]) => ({ file, digits })));
    expect([...new Set(written.filter(({ digits }) => Number(digits) === firstFid(1)).map(({ file }) => file))].sort()).toEqual(['sql/core/parcel.sql', 'sql/core/parcel_libro_fondiario.sql', 'sql/functions/region_of.sql']);
    expect(regionOfFid(firstFid(14))).toBe(14);
    expect(regionOfFid(firstFid(15) - 1)).toBe(14);
  });
});

describe('the helpers of the SQL rules', () => {
  it('ignore comments and strings, and read function bodies', () => {
    const text = "-- SELECT in a comment\ncreate table a as select 'SELECT' as \"SELECT\";\ncreate function f() as $$\n  SELECT 1 $$;\nselect ST_Area(geom);\n";
    expect(shouted(text).map(({ word, offset }) => `${lineAt(text, offset)} ${word}`)).toEqual(['4 SELECT', '5 ST_Area']);
    expect(created(text)).toEqual(['a', 'f']);
    expect(qualified('select core.f(x), core.parcel.fid from layer.cell; -- section.risk')).toEqual(['core.parcel', 'layer.cell']);
    expect(relations('layer.a, core.b')).toEqual(['layer.a', 'core.b']);
    expect(relations('layer.a and others')).toBeNull();
  });
});

describe('migrations', () => {
  const migrations = SQL.filter((file) => file.startsWith('sql/migrations/'));

  it('have unique numbers of four digits', () => {
    const numbers = migrations.map((file) => /^sql\/migrations\/(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1]);
    expect(numbers.length).toBeGreaterThan(0);
    expect(numbers.filter((number) => number === undefined)).toEqual([]);
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});

describe('functions of the API', () => {
  it('have late-bound bodies, so that they lock no table', () => {
    const files = SQL.filter((file) => /^sql\/(api\/|record\/|functions\/|sections\/[^/]+\/record)/.test(file));
    expect(everywhere((text) => [...code(text).matchAll(/\bbegin\s+atomic\b|\bcreate\s+(or\s+replace\s+)?view\b/g)].map((match) => `line ${lineAt(text, match.index)}: ${match[0]}`), files)).toEqual([]);
  });
});

describe('the functions of a record', () => {
  const files = SQL.filter((file) => /^(?:sql\/record\/|(?:sql|test)\/sections\/[^/]+\/record\.sql)/.test(file));
  const bodiesOf = (text: string): string[] => code(text).split(/^create or replace function /m).slice(1);
  const isPolymorphic = (body: string): boolean => /^[^$]*\bp_from anyelement\b/.test(body);
  const polymorphic = new Set(files.flatMap((file) => bodiesOf(read(file)).filter(isPolymorphic).map((body) => body.slice(0, body.indexOf('(')))));

  it('name tables without a schema, because views of a region or of a past time may replace the tables', () => {
    expect(files.length).toBeGreaterThan(20);
    const qualifiedTables = /\b(?:from|join)\s+((?:core|section)\.\w+|ledger\.publication)\b(?!\s*\()/g;
    // Functions that look for changes read the tables of all regions and their history.
    const isOfChanges = (body: string): boolean => /^api\.(?:followed_|parcels_of_addresses\()/.test(body);
    const tablesOf = (body: string): string[] => [...body.matchAll(qualifiedTables)].map((match) => match[0]);
    expect(everywhere((text) => bodiesOf(text).filter((body) => !isOfChanges(body)).flatMap(tablesOf), files)).toEqual([]);
    expect(everywhere((text) => bodiesOf(text).filter((body) => isOfChanges(body) && isPolymorphic(body)).map((body) => body.slice(0, body.indexOf('('))), files)).toEqual([]);
  });

  it('read only tables that their header lists, because history is kept only for the tables in headers', () => {
    expect(everywhere((text) => {
      const listed = new Set(names(text, 'reads').map(unqualified));
      const ctes = [...code(text).matchAll(/(?:\bwith|,)\s+(\w+) as (?:materialized )?\(/g)].map((match) => match[1]!);
      return [...code(text).matchAll(/\b(?:from|join)\s+([a-z_]\w*)\b(?![.(])/g)].map((match) => match[1]!)
        .filter((name) => !listed.has(name) && !ctes.includes(name) && !['lateral', 'distinct'].includes(name));
    }, files)).toEqual([]);
  });

  it('pass the type of the region to other functions, because query plans are cached for each type', () => {
    expect(polymorphic.size).toBeGreaterThan(30);
    expect(everywhere((text) => bodiesOf(text).filter(isPolymorphic).map((body) => body.split('$$')[1] ?? '').flatMap((body) => [...body.matchAll(/\b(api\.\w+)\(/g)].flatMap((match) => {
      if (!polymorphic.has(match[1]!)) return [];
      let [depth, end] = [0, match.index];
      do {
        end += body.slice(end + 1).search(/[()]/) + 1;
        depth += body[end] === '(' ? 1 : -1;
      } while (depth > 0);
      return /\bp_from\s*\)$/.test(body.slice(match.index, end + 1)) ? [] : [`${match[1]} without p_from`];
    })), files)).toEqual([]);
  });
});

describe('a section', () => {
  it('has one view `evidence`, in explain.sql or build.sql, and its map texts in either map.ts or section.ts', () => {
    const explained = readSectionFiles('explain').map(({ section }) => section);
    expect([...explained].sort()).toEqual(SECTIONS.map(({ name }) => name).sort());
    expect(SECTIONS.filter(({ name, map }) => FILES.includes(`sql/sections/${name}/map.ts`) === (map !== undefined)).map(({ name }) => name)).toEqual([]);
  });
});

describe('the columns of a section', () => {
  it('select values without rounding them, because api.values_NAME rounds each value', () => {
    const bodies = SQL.filter((file) => /\/sections\/[^/]+\/record\.sql$/.test(file)).flatMap((file) => code(read(file)).split(/^create or replace function /m).filter((body) => body.startsWith('api.columns_')));
    expect(bodies.length).toBeGreaterThan(10);
    expect(bodies.filter((body) => /\b(?:round|trim_scale)\s*\(/.test(body))).toEqual([]);
  });
});

describe('checks', () => {
  const files = SQL.filter((file) => /^(sources|sql\/sections)\/[^/]+\/checks\.sql$/.test(file));
  const checks = files.flatMap((file) =>
    read(file)
      .split(/^(?=-- check:)/m)
      .slice(1)
      .map((text) => ({ file, text, name: /^-- check:\s*(.*?)\s*$/m.exec(text)?.[1] ?? '' })),
  );

  it('exist in every file of checks', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !checks.some((check) => check.file === file))).toEqual([]);
  });

  it('each have a name in snake case, a level, an expectation and one query', () => {
    expect(
      checks.flatMap(({ file, text, name }) => {
        const lines = text.split('\n');
        const well =
          /^[a-z][a-z0-9_]*$/.test(name) && /^-- level: (error|warn)$/.test(lines[1] ?? '') && /^-- expects: \S/.test(lines[2] ?? '')
          && /^\s*(select|with)\b/.test(code(text)) && code(text).trim().split(/;\s*/).filter((part) => part !== '').length === 1;
        return well ? [] : [`${file}: ${name}`];
      }),
    ).toEqual([]);
  });

  it('have unique names', () => {
    const all = checks.map(({ name }) => name);
    expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
  });
});
