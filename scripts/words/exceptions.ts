/** Ordinary uses of the phrases of `phrases.ts`, each with a reason. */
import type { Exception } from './findings.ts';

export const EXCEPTIONS: readonly Exception[] = [
  { file: 'sources/istat_comuni/manifest.ts', text: 'codes of comuni, provinces and regions in force', reason: 'a title that attributions of published data contain' },
];
