import { isHeaderName } from '../../http/reserved-headers.ts';
import { isHost } from '../../syntax/host.ts';
import type { ForwardAction, RedirectAction, RouteSpec } from '../../schema/route/route.ts';
import { checkDestination, checkWeighted } from './check-destination.ts';
import { each, fields, reporterOf, type Check } from '../check.ts';
import { checkConditions, checkMatcher, delegatingProblem } from './check-matcher.ts';
import { checkWrittenPath } from './check-path.ts';
import { checkRewriteHost, checkRouteOptions } from './check-route-options.ts';
import { checkEmptyRewrite } from './without-effect.ts';

const invalidAction = reporterOf('INVALID_ACTION');
const invalidDelegation = reporterOf('INVALID_DELEGATION');

/** Returns problems of one route. */
export const checkRoute: Check<RouteSpec> = (route, at) => {
  const { delegateAction, matchers = [] } = route;
  const pathless = delegateAction !== undefined || route.inheritablePathMatchers === true;
  const findings = [
    ...each(matchers, [...at, 'matchers'], pathless ? checkConditions : checkMatcher),
    ...fields(route, at, { routeAction: checkForward, redirectAction: checkRedirect, options: checkRouteOptions }),
    ...checkEmptyRewrite(route, at),
    ...invalidDelegation(delegateAction && delegatingProblem(matchers), [...at, 'matchers']),
  ];
  return route.name ? findings.map((finding) => ({ ...finding, route: route.name })) : findings;
};

const checkForward: Check<ForwardAction> = (action, at) => {
  const { single, multi, upstreamGroup, clusterHeader, dynamicForwardProxy } = action;
  if (single) return checkDestination(single, [...at, 'single']);
  if (multi) return checkWeighted(multi.destinations, [...at, 'multi']);
  if (upstreamGroup) {
    return invalidAction(!upstreamGroup.name && 'the upstream group has no name', [...at, 'upstreamGroup']);
  }
  if (clusterHeader) {
    const message =
      !isHeaderName(clusterHeader) && `invalid header name '${clusterHeader}': no request can have this header`;
    return invalidAction(message, [...at, 'clusterHeader'], { severity: 'warning' });
  }
  if (dynamicForwardProxy) return checkDynamic(dynamicForwardProxy, [...at, 'dynamicForwardProxy']);
  return invalidAction('the route has no destination', at, { hint: 'single, multi, upstreamGroup' });
};

const checkDynamic: Check<NonNullable<ForwardAction['dynamicForwardProxy']>> = (action, at) => {
  const { hostRewrite, autoHostRewriteHeader: header } = action;
  return [
    ...invalidAction(hostRewrite && !isHost(hostRewrite) && `invalid host '${hostRewrite}'`, [...at, 'hostRewrite']),
    ...invalidAction(header && !isHeaderName(header) && `invalid header name '${header}'`, [
      ...at,
      'autoHostRewriteHeader',
    ]),
  ];
};

const checkRedirect: Check<RedirectAction> = (action, at) =>
  fields(action, at, {
    hostRedirect: checkRewriteHost,
    pathRedirect: checkWrittenPath,
    prefixRewrite: checkWrittenPath,
  });
