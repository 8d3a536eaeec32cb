#!/usr/bin/env node
// Runs the TypeScript of this checkout without a build step.
import { register as registerHooks } from 'node:module';
import { register } from 'tsx/esm/api';

register();
registerHooks('./as-it-is.mjs', import.meta.url);
const { main } = await import('./cli/main.ts');
await main(process.argv);
// What failed may have left something that keeps the process: it ends after its report.
if (process.exitCode) process.exit();
