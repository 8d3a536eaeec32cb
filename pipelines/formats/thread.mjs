// Runs the TypeScript module that `workerData` names in a thread. It is loaded by require: the hooks of import would have to be
// started again for each thread, which takes as long as reading a hundred thousand parcels.
import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';

// As in mappale.mjs, for a thread of another program. tsx reads the setting when it is loaded.
process.env['TSX_DISABLE_CACHE'] = '1';
const { register } = await import('tsx/cjs/api');
register();
createRequire(import.meta.url)(workerData.module);
