// Runs the TypeScript module that `workerData` names in a thread. Loads the module with require, because starting import hooks in each thread takes as long as
// reading a hundred thousand parcels.
import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';

// Sets the same variable as mappale.mjs, because a program other than mappale.mjs may start the thread. tsx reads the variable only once, when tsx is loaded.
process.env['TSX_DISABLE_CACHE'] = '1';
const { register } = await import('tsx/cjs/api');
register();
createRequire(import.meta.url)(workerData.module);
