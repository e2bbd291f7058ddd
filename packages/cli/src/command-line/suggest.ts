import { nearest } from '@edge-gateway/core';

/** Returns ` (did you mean "x"?)`; empty if no known word is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const one = nearest(word, known);
  return one === undefined ? '' : ` (did you mean "${one}"?)`;
}
