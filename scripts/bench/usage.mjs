// Is preloaded into a measured process, and writes the resource usage (getrusage) to file descriptor 3 at its end. The usage includes all threads.
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())));
