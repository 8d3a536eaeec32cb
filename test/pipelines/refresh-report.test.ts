import { expect, it } from 'vitest';
import { describeFiles } from '../../cli/refresh-report.ts';
import { inputError, MappaleError } from '../../pipelines/errors.ts';

const left = [{ name: 'stations.csv', source: 'mimit_fuel', vintage: '2026-01-17' }];
const survey = { aside: [], unknown: [], broken: [] };

it('does not call a file missing if the file that now has its name cannot be read', () => {
  const broken = [{ path: '/data/stations.csv', error: inputError('the file is empty', { code: 'FILE_EMPTY' }) }];
  expect(describeFiles({ unused: [], left, survey: { ...survey, broken } })).toEqual([
    'still used: stations.csv (mimit_fuel 2026-01-17) as loaded earlier, because the file that now has this name is not used',
  ]);
});

it('calls a file missing if no file has its name', () => {
  expect(describeFiles({ unused: [], left, survey })).toEqual([
    'still used, but missing from the data folders: stations.csv (mimit_fuel 2026-01-17). To stop using the file, run: npx mappale forget FILE',
  ]);
});

it('describes an error without the word error, for messages that have their own prefix', () => {
  const error = new MappaleError('the file is empty', { code: 'FILE_EMPTY', kind: 'input', at: 'stations.csv' });
  expect(error.describe()).toBe('the file is empty [FILE_EMPTY]\n  at: stations.csv');
  expect(error.report()).toBe(`error: ${error.describe()}`);
});
