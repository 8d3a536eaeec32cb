/** Kills runs on the embedded database. See `kills.ts`. */
import { killRuns } from '../harness/faults/kills.ts';

killRuns('pglite');
