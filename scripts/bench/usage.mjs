// Preloaded into a measured process. Writes the resource usage of the process (getrusage), with its threads, to file descriptor 3 at exit.
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())));
