/** Kills runs on PostgreSQL. See `test/harness/faults/kills.ts`. */
import { killRuns } from '../harness/faults/kills.ts';

killRuns('postgres');
