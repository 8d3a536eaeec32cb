/** Entry point of a reader thread. The thread reads documents with the same result as `read` without threads. */
import { serveReader } from '../../pipelines/readers/threaded-sink.ts';
import { readDocument, type Input } from './member.ts';
import { tables } from './tables.ts';

serveReader<Input>(tables, readDocument);
