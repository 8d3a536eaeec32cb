/**
 * Checks the health of the container. Reads the port from the command line of the container's first process, so that `serve --port` needs no other setting.
 * Exits with code 0 if the server returns status 200, or if the container does not run `serve`.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const DEFAULT_PORT = '8080';

/** Returns the health URL of the server that a command line starts, or null if the command line starts no server. @param words arguments of the command line */
export function healthUrl(words: readonly string[]): string | null {
  if (!words.includes('serve')) return null;
  const option = words.findLastIndex((word) => word === '--port' || word.startsWith('--port='));
  const port = option < 0 ? DEFAULT_PORT : words[option]?.split('=')[1] ?? words[option + 1];
  return `http://127.0.0.1:${port ?? DEFAULT_PORT}/api/v2/health`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const url = healthUrl(readFileSync('/proc/1/cmdline', 'utf8').split('\0'));
  const isHealthy = url === null || await fetch(url, { signal: AbortSignal.timeout(4_000) }).then(({ ok }) => ok, () => false);
  process.exitCode = isHealthy ? 0 : 1;
}
