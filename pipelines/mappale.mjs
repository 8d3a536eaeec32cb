#!/usr/bin/env node
// Runs the TypeScript of this checkout without a build step.
import { register } from 'tsx/esm/api';

register();
const { main } = await import('./cli.ts');
await main(process.argv);
