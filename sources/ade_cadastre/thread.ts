/** What runs in a thread of `read`: the same reading of one document as without threads. */
import { serve } from '../../pipelines/readers/thread.ts';
import { readDocument, type Input } from './member.ts';
import { tables } from './tables.ts';

serve<Input>(tables, readDocument);
