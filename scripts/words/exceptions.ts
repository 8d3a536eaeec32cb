/** Ordinary uses of the phrases of `phrases.ts`, each with a reason. */
import type { Exception } from './findings.ts';

export const EXCEPTIONS: readonly Exception[] = [];
