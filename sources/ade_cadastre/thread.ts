/** What runs in a thread of `read`: the same reading of one document as without threads. */
import { serveReader } from '../../pipelines/readers/threaded-sink.ts';
import { readDocument, type Input } from './member.ts';
import { tables } from './tables.ts';

serveReader<Input>(tables, readDocument);
