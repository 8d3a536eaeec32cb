/** Finds phrases of `phrases.ts` in sentences. */
import { PHRASES } from './phrases.ts';
import type { Sentence } from './texts.ts';

/** An allowed use of a phrase. */
export interface Exception {
  readonly file: string;
  /** Part of the sentence in which the phrase is allowed. */
  readonly text: string;
  readonly reason: string;
}

export interface Finding extends Sentence {
  readonly phrase: string;
  readonly instead: string;
}

/** Returns a finding for each phrase that no exception allows, in the order of the sentences. */
export function findingsOf(sentences: readonly Sentence[], exceptions: readonly Exception[]): Finding[] {
  return sentences
    .filter(({ file, text }) => !exceptions.some((each) => each.file === file && text.includes(each.text)))
    .flatMap((sentence) => PHRASES.flatMap(({ pattern, instead }) => {
      const phrase = pattern.exec(sentence.text)?.[0];
      return phrase === undefined ? [] : [{ ...sentence, phrase, instead }];
    }));
}

/** Returns the exceptions that allow no phrase and can be removed. */
export function unneeded(sentences: readonly Sentence[], exceptions: readonly Exception[]): Exception[] {
  return exceptions.filter(({ file, text }) => findingsOf(sentences.filter((each) => each.file === file && each.text.includes(text)), []).length === 0);
}

/** Returns the number of findings by path, without files that have no findings. */
export function countsOf(findings: readonly Finding[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { file } of findings) counts[file] = (counts[file] ?? 0) + 1;
  return counts;
}
