import { expect, it } from 'vitest';
import { makeLog } from '../../pipelines/log.ts';
import { barLine } from '../../pipelines/progress.ts';

function linesOf(log: 'human' | 'json', logLevel: 'debug' | 'info' | 'warn', isTTY = false): string[] {
  const written: string[] = [];
  const stream = { isTTY, columns: 80, write: (text: string) => written.push(text) > 0 } as unknown as NodeJS.WriteStream;
  const made = makeLog({ log, logLevel, noColor: true }, stream);
  made.debug('a detail');
  made.info('a phase');
  made.progress('a bar');
  made.warn('a warning');
  return written;
}

it.each([
  ['debug', ['a detail\n', 'a phase\n', 'warning: a warning\n']],
  ['info', ['a phase\n', 'warning: a warning\n']],
  ['warn', ['warning: a warning\n']],
] as const)('the log has lines of level %s and higher levels', (level, lines) => {
  expect(linesOf('human', level)).toEqual(lines);
  expect(linesOf('json', level).map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(lines.map((line) => line.trim().replace('warning: ', '')));
});

it('progress is shown on a terminal, but neither in a JSON log nor at level warn', () => {
  expect(linesOf('human', 'info', true)).toEqual(['a phase\n', 'a bar', '\r\u001b[2K', 'warning: a warning\n']);
  expect(linesOf('human', 'warn', true)).toEqual(['warning: a warning\n']);
  expect(linesOf('json', 'info', true)).toHaveLength(2);
});

it('a progress bar of 20 characters is followed by the counts, and is full at 0 of 0', () => {
  expect(barLine(11, 44, 'tables')).toBe('[#####...............] 11 of 44 tables');
  expect(barLine(0, 0, 'tables')).toBe('[####################] 0 of 0 tables');
});
