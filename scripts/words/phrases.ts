/** Phrases that make a reader stop, each with the words to use instead. The list applies to sentences without code spans and quotations. */

export interface Phrase {
  readonly pattern: RegExp;
  readonly instead: string;
}

export const PHRASES: readonly Phrase[] = [
  { pattern: /\bmend(?:s|ed|ing)?\b/i, instead: 'fix, repair' },
  { pattern: /\b(?:is|are|was|were|be|been) told\b/i, instead: 'is reported, is printed' },
  { pattern: /\btells? apart\b|\btold apart\b/i, instead: 'distinguishes' },
  { pattern: /\b(?:says|say|said) so\b/i, instead: 'reports' },
  { pattern: /\b(?:goes|go|going|went) by\b/i, instead: 'follows, uses' },
  { pattern: /\bholds? to\b/i, instead: 'follows' },
  { pattern: /\bheld (?:against|to)\b/i, instead: 'compared with, checked against' },
  { pattern: /\b(?:stands|standing|stood) (?:in|there|under|on|beside|as|for)\b/i, instead: 'is' },
  { pattern: /\b(?:lies|lying|lay|lain) (?:in|there|under|on|beside)\b/i, instead: 'is' },
  { pattern: /\bbeside\b/i, instead: 'next to, as well as, compared with' },
  { pattern: /\bno more\b|\bany more\b/i, instead: 'no longer' },
  { pattern: /\b(?:in|out of) force\b/i, instead: 'current' },
  { pattern: /\bwhose (?:day|turn)\b/i, instead: 'that are due' },
  { pattern: /\blet go\b/i, instead: 'release' },
  { pattern: /\bwreck(?:s|ed)?\b/i, instead: 'corrupt' },
  { pattern: /\boffences?\b/i, instead: 'violation' },
  { pattern: /\bmade (?:of|from)\b/i, instead: 'built from, derived from' },
  { pattern: /\b(?:in|as) words\b/i, instead: 'as text' },
  { pattern: /\bwhoever\b/i, instead: 'the client, the user' },
  { pattern: /\bcounts? for nothing\b|\bcounts? in its\b/i, instead: 'is ignored' },
  { pattern: /\bof which\b|\bof whom\b/i, instead: 'a second sentence' },
  { pattern: /\bwhereof\b|\btherein\b|\banew\b|\bseldom\b/i, instead: 'the usual word' },
  { pattern: /\bhangs on\b/i, instead: 'depends on' },
  { pattern: /\bas it (?:is|was|stands)\b/i, instead: 'unchanged' },
  { pattern: /^(?:What|Who|Whose|Whom|Of|That|Those)\b(?!.*\?$)/, instead: 'a noun as the subject' },
];
