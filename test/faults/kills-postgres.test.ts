/** Kills runs on PostgreSQL. See `kills.ts`. */
import { killRuns } from '../harness/faults/kills.ts';

killRuns('postgres');
