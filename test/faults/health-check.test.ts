/** Tests that the health check requests the port in the command line of process 1. */
import { expect, it } from 'vitest';
import { healthUrl } from '../../pipelines/operate/health-check.ts';

const PROGRAM = ['node', '/srv/mappale/mappale.js'];

it.each([
  [['serve', '--host', '0.0.0.0'], 'http://127.0.0.1:8080/api/v2/health'],
  [['serve', '--port', '9000'], 'http://127.0.0.1:9000/api/v2/health'],
  [['serve', '--port=9001', '--workers', '2'], 'http://127.0.0.1:9001/api/v2/health'],
  [['serve', '--port', '9000', '--port', '9002'], 'http://127.0.0.1:9002/api/v2/health'],
])('the health check requests the port that %j listens on', (words, url) => {
  expect(healthUrl([...PROGRAM, ...words])).toBe(url);
});

it('the health check requests nothing for a command that is not serve', () => {
  expect(healthUrl([...PROGRAM, 'watch', 'molise', '--data', '/data'])).toBeNull();
});
