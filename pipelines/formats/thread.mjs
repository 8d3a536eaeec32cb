// Runs the TypeScript module that `workerData` names in a thread. It is loaded by require: the hooks of import would have to be
// started again for each thread, which takes as long as reading a hundred thousand parcels.
import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';
import { register } from 'tsx/cjs/api';

register();
createRequire(import.meta.url)(workerData.module);
