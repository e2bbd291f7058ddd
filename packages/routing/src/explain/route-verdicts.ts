import type { Route } from '@edge-gateway/core';
import { foundValue, holds, wanted, type Condition } from '../route/match/conditions.ts';
import { compileMatcher, pathFits, type CompiledMatcher } from '../route/match/matcher.ts';
import type { RequestView } from '../format/record.ts';
import type { MatcherVerdict, Mismatch, RouteVerdict } from './explanation.ts';

/** Tests routes in order, up to the first that matches the request. */
export function judgeRoutes(routes: readonly Route[], view: RequestView): RouteVerdict[] {
  const verdicts: RouteVerdict[] = [];
  for (const route of routes) {
    const matchers = route.matchers.map((matcher) => judgeMatcher(matcher, view));
    const matched = matchers.some(({ mismatches }) => mismatches.length === 0);
    verdicts.push({ name: route.name, logName: route.logName, source: route.source, matched, matchers });
    if (matched) break;
  }
  return verdicts;
}

function judgeMatcher(written: Route['matchers'][number], view: RequestView): MatcherVerdict {
  let matcher: CompiledMatcher;
  try {
    matcher = compileMatcher(written);
  } catch (error) {
    // In the gateway it matches every request that could have been meant, with 500.
    return { path: `unusable: ${(error as Error).message}`, mismatches: [] };
  }
  const mismatches: Mismatch[] = [];
  const path = pathInWords(matcher);
  if (!pathFits(matcher, view.pathname, view.method)) {
    const found = matcher.kind === 'connect' ? view.method : view.pathname;
    mismatches.push({ on: matcher.kind === 'connect' ? 'method' : 'path', wanted: path, found });
  }
  for (const condition of matcher.conditions) {
    if (holds(condition, view)) continue;
    mismatches.push({ on: placeOf(condition), wanted: wanted(condition), found: foundValue(condition, view) });
  }
  return { path, mismatches };
}

function pathInWords({ kind, text, ignoreCase }: CompiledMatcher): string {
  if (kind === 'connect') return 'CONNECT';
  return `${kind} ${text}${ignoreCase ? ' (any case)' : ''}`;
}

function placeOf({ type, name }: Condition): string {
  if (type === 'method') return 'method';
  return type === 'header' ? `header ${name}` : `query parameter ${name}`;
}
