import { delegatingProblem } from './delegation.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { ForwardAction, RedirectAction, RouteSpec } from '../../schema/route/route.ts';
import { checkDestination, checkWeighted } from './destination.ts';
import { each, within } from '../check.ts';
import { hostProblem } from './host-problem.ts';
import { checkMatcher } from './matcher.ts';
import { checkPath } from './path.ts';
import { checkRouteOptions } from './route-options.ts';

/** Returns problems of one route. */
export function checkRoute(route: RouteSpec, at: FieldPath): FieldProblem[] {
  const pathless = route.delegateAction !== undefined || route.inheritablePathMatchers === true;
  const findings = [
    ...each(route.matchers, [...at, 'matchers'], (matcher, path) => checkMatcher(matcher, path, { pathless })),
    ...within(route.routeAction, [...at, 'routeAction'], checkForward),
    ...within(route.redirectAction, [...at, 'redirectAction'], checkRedirect),
    ...within(route.options, [...at, 'options'], checkRouteOptions),
    ...checkDelegation(route, at),
  ];
  return route.name ? findings.map((finding) => ({ ...finding, route: route.name })) : findings;
}

function checkDelegation({ delegateAction, matchers = [] }: RouteSpec, at: FieldPath): FieldProblem[] {
  const message = delegateAction && delegatingProblem(matchers);
  return message ? [{ code: 'INVALID_DELEGATION', path: [...at, 'matchers'], message }] : [];
}

function checkForward(action: ForwardAction, at: FieldPath): FieldProblem[] {
  if (action.single) return checkDestination(action.single, [...at, 'single']);
  if (action.multi) return checkWeighted(action.multi.destinations, [...at, 'multi']);
  if (action.upstreamGroup) {
    return action.upstreamGroup.name
      ? []
      : [{ code: 'INVALID_ACTION', path: [...at, 'upstreamGroup'], message: 'the upstream group has no name' }];
  }
  if (action.clusterHeader || action.dynamicForwardProxy) return [];
  return [
    { code: 'INVALID_ACTION', path: at, message: 'the route has no destination', hint: 'single, multi, upstreamGroup' },
  ];
}

function checkRedirect({ hostRedirect, pathRedirect, prefixRewrite }: RedirectAction, at: FieldPath): FieldProblem[] {
  const host = hostRedirect ? hostProblem(hostRedirect) : undefined;
  return [
    ...(host ? [{ code: 'INVALID_REWRITE', path: [...at, 'hostRedirect'], message: host } as const] : []),
    ...checkPath(pathRedirect && withoutQuery(pathRedirect), [...at, 'pathRedirect']),
    ...checkPath(prefixRewrite, [...at, 'prefixRewrite']),
  ];
}

/** A redirect may contain a query, which is not part of the path. */
function withoutQuery(path: string): string {
  return path.split('?', 1)[0]!;
}
