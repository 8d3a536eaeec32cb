/** Kills runs on the embedded database. See `test/harness/faults/kills.ts`. */
import { killRuns } from '../harness/faults/kills.ts';

killRuns('pglite');
