// Preloaded into a measured process: at its end it writes its own resource usage (getrusage) to file descriptor 3. Threads count in their process.
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())));
