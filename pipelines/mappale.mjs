#!/usr/bin/env node
// Starts the program: TypeScript in a checkout, compiled code in the npm package. The version check precedes the import of modules that old versions of Node do
// not have.
import { existsSync } from 'node:fs';

// Handles signals at once, because the first process of a container has no default handlers, and a signal may arrive before the program is loaded.
if (process.pid === 1) {
  for (const [signal, number] of [['SIGHUP', 1], ['SIGINT', 2], ['SIGTERM', 15]]) process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(128 + number));
}
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`error: this Node is too old [NODE_TOO_OLD]\n  detail: expected Node 20.19 or newer, found ${process.versions.node}\n  hint: Install a newer version.\n  type: nvm install 22\n`);
  process.exit(2);
}
// Defines `navigator`, which only newer versions of Node provide. Without this object, the package pg would load Node's fetch API.
globalThis.navigator ??= { userAgent: `Node.js/${major}` };
// Prefers main.ts in a checkout, because compiled code in dist/ may be older than the sources.
const program = ['../cli/main.ts', '../cli/main.js', '../dist/cli/main.js'].find((file) => existsSync(new URL(file, import.meta.url)));
if (program === '../cli/main.ts') {
  // Disables the cache of tsx, because a different user could create the cache folder in the shared temporary folder. Child processes and threads inherit the
  // setting.
  process.env['TSX_DISABLE_CACHE'] = '1';
  const { register: registerHooks } = await import('node:module');
  const { register } = await import('tsx/esm/api');
  register();
  registerHooks('./plain-packages.mjs', import.meta.url);
}
const { main } = await import(program);
await main(process.argv);
// Ends the process after a failed command, because the command may leave open handles. First waits until all pending output is written, because writes to a
// pipe may be asynchronous.
if (process.exitCode) process.stdout.write('', () => process.stderr.write('', () => process.exit()));
