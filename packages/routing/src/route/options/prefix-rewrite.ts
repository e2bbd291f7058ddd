import { hidesDotSegment } from '../match/canonical-path.ts';

/**
 * Puts `prefixRewrite` in the place of what the matcher took; the query stays. Where both sides of the join have a
 * slash, one goes. Returns `undefined` if the rest of the path would form a dot segment, which clients must not create through a
 * rewrite.
 */
export function rewritePrefix(path: string, matched: number, replacement: string): string | undefined {
  const rest = path.slice(matched);
  const joined = replacement.endsWith('/') && rest.startsWith('/') ? replacement + rest.slice(1) : replacement + rest;
  const rewritten = joined.startsWith('/') ? joined : `/${joined}`;
  const cut = rewritten.indexOf('?');
  return hidesDotSegment(cut < 0 ? rewritten : rewritten.slice(0, cut)) ? undefined : rewritten;
}
