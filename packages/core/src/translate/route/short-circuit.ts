import { compileRegex } from '../../syntax/regex.ts';
import type { Matcher } from '../../schema/route/matcher.ts';
import type { Route } from '../../contract/snapshot.ts';
import { contentText } from '../snapshot/content.ts';
import { routeMessage } from '../status/messages.ts';
import { pathText } from './route-order.ts';

/** Returns a warning for each matcher that is unreachable because of an earlier route. */
export function shortCircuits(routes: readonly Route[]): string[] {
  const earlier: { readonly route: Route; readonly matcher: Matcher }[] = [];
  const warnings: string[] = [];
  for (const route of routes) {
    for (const matcher of route.matchers) {
      const hider = earlier.find((one) => hides(one.matcher, matcher));
      if (!hider) continue;
      const what = `the path '${pathText(matcher)}' is never reached: '${hider.route.name}' matches first`;
      warnings.push(routeMessage('ProcessingWarning', what, route.name));
    }
    for (const matcher of route.matchers) earlier.push({ route, matcher });
  }
  return warnings;
}

/** Returns true if every request that matches `later` also matches `earlier`, as far as the texts tell. */
function hides(earlier: Matcher, later: Matcher): boolean {
  return hasAllConditions(earlier, later) && coversPath(earlier, later);
}

function coversPath(earlier: Matcher, later: Matcher): boolean {
  if (earlier.connectMatcher || later.connectMatcher) return !!earlier.connectMatcher && !!later.connectMatcher;
  if (later.regex !== undefined) return earlier.regex === later.regex || earlier.prefix === '/';
  const path = pathText(later);
  if (earlier.regex !== undefined) return fitsRegex(earlier.regex, path);
  const anyCase = earlier.caseSensitive === false;
  if (!anyCase && later.caseSensitive === false) return false;
  const [given, wanted] = anyCase ? [path.toLowerCase(), pathText(earlier).toLowerCase()] : [path, pathText(earlier)];
  if (earlier.prefix !== undefined) return given.startsWith(wanted);
  return later.exact !== undefined && given === wanted;
}

function fitsRegex(pattern: string, path: string): boolean {
  try {
    return compileRegex(pattern).fullMatch(path);
  } catch {
    return false;
  }
}

function hasAllConditions(earlier: Matcher, later: Matcher): boolean {
  const has = (all: readonly object[] = [], wanted: object) =>
    all.some((one) => contentText(one) === contentText(wanted));
  if (earlier.headers?.some((header) => !has(later.headers, header))) return false;
  if (earlier.queryParameters?.some((parameter) => !has(later.queryParameters, parameter))) return false;
  if (!earlier.methods?.length) return true;
  return !!later.methods?.length && later.methods.every((method) => earlier.methods!.includes(method));
}
