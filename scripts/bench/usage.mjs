// Writes the resource usage (getrusage) of the process with all threads to file descriptor 3 at exit. The measured process preloads this module.
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())));
