import { compileRegex } from '@edge-gateway/core';
import type { StringMatcher } from '@edge-gateway/core/schema';

/** Compiles a condition on a string; one without any form matches nothing. Throws for an expression that does not compile. */
export function compileStringMatcher(matcher: StringMatcher): (text: string) => boolean {
  const { exact, prefix, suffix, safeRegex, ignoreCase } = matcher;
  if (safeRegex?.regex !== undefined) {
    const regex = compileRegex(safeRegex.regex);
    return (text) => regex.fullMatch(text);
  }
  const folded = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  if (exact !== undefined) return same(folded(exact), folded);
  if (prefix) return starts(folded(prefix), folded);
  return suffix ? ends(folded(suffix), folded) : () => false;
}

type Fold = (text: string) => string;

const same = (wanted: string, folded: Fold) => (text: string) => folded(text) === wanted;
const starts = (wanted: string, folded: Fold) => (text: string) => folded(text).startsWith(wanted);
const ends = (wanted: string, folded: Fold) => (text: string) => folded(text).endsWith(wanted);
