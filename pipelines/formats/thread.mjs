// Runs a TypeScript module in a thread. `workerData` names the module, which is loaded with require, because starting import hooks in each thread takes as long
// as reading a hundred thousand parcels.
import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';

// Same setting as in mappale.mjs, for threads of other programs. tsx reads it when it is loaded.
process.env['TSX_DISABLE_CACHE'] = '1';
const { register } = await import('tsx/cjs/api');
register();
createRequire(import.meta.url)(workerData.module);
