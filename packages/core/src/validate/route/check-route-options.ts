import { isHeaderName } from '../../http/reserved-headers.ts';
import { isHost } from '../../syntax/host.ts';
import type { RouteOptions, VirtualHostOptions } from '../../schema/route/route-options.ts';
import type { Shadowing, Upgrade } from '../../schema/route/small-options.ts';
import { fields, reporterOf, type Check, type FieldChecks } from '../check.ts';
import { checkCors } from './check-cors.ts';
import { checkCsrf } from './check-csrf.ts';
import { checkDlp } from './check-dlp.ts';
import { EXT_PROC_ROUTE_CHECKS } from './check-ext-proc.ts';
import { checkFaults } from './check-faults.ts';
import { checkHeaderManipulation } from './check-header-manipulation.ts';
import { checkLbHash } from './check-lb-hash.ts';
import { checkWrittenPath } from './check-path.ts';
import { checkRateLimitOptions } from '../rate-limit/check-rate-limit-options.ts';
import { checkRetries } from './check-retries.ts';
import { checkRetryEffect, checkRouteEffects } from './without-effect.ts';
import { checkTransformations } from '../transformation/check-transformations.ts';

const invalidRewrite = reporterOf('INVALID_REWRITE');
const invalidShadowing = reporterOf('INVALID_SHADOWING');
const invalidUpgrade = reporterOf('INVALID_UPGRADE');

/** Returns problems of the options of one virtual host. */
export const checkVirtualHostOptions: Check<VirtualHostOptions> = (options, at) => [
  ...fields(options, at, VIRTUAL_HOST_CHECKS),
  ...checkRateLimitOptions(options, at),
  ...checkRetryEffect(options, at),
  ...checkTransformations(options, at),
];

/** Returns problems of the options of one route. */
export const checkRouteOptions: Check<RouteOptions> = (options, at) => {
  const { prefixRewrite, regexRewrite } = options;
  return [
    ...checkVirtualHostOptions(options as VirtualHostOptions, at),
    ...checkRouteEffects(options, at),
    ...invalidRewrite(prefixRewrite && regexRewrite && 'prefixRewrite and regexRewrite cannot be combined', [
      ...at,
      'regexRewrite',
    ]),
    ...fields(options, at, ROUTE_CHECKS),
  ];
};

/** Returns the problem of a host that is not empty. */
export const checkRewriteHost: Check<string> = (host, at) =>
  invalidRewrite(
    host && !isHost(host) && `invalid host '${host}': use a name or an IP address, optionally with a port`,
    at,
  );

const checkShadowing: Check<Shadowing> = ({ upstream, hostRewriteLiteral }, at) => [
  ...invalidShadowing(!upstream?.name && 'shadowing needs an upstream', at, { hint: 'upstream' }),
  ...(hostRewriteLiteral ? checkRewriteHost(hostRewriteLiteral, [...at, 'hostRewriteLiteral']) : []),
];

/** Returns problems of the upgrades of a route. */
const checkUpgrades: Check<readonly Upgrade[]> = (upgrades, at) => {
  const types = upgrades.map(protocolOf);
  return types.flatMap((type, i) => [
    ...invalidUpgrade(type === undefined && 'the upgrade has no protocol', [...at, i]),
    ...invalidUpgrade(type && types.indexOf(type) < i && `the upgrade ${type} is listed twice`, [...at, i]),
  ]);
};

/** Returns problems of the upgrades of a listener, which terminates no tunnels. */
export const checkListenerUpgrades: Check<readonly Upgrade[]> = (upgrades, at) => [
  ...checkUpgrades(upgrades, at),
  ...upgrades.flatMap(({ connectTerminate }, i) =>
    invalidUpgrade(connectTerminate && 'connectTerminate is only allowed on routes', [...at, i, 'connectTerminate']),
  ),
];

/** CONNECT requests are either forwarded or terminated. */
function protocolOf(upgrade: Upgrade): string | undefined {
  return upgrade.connectTerminate ? 'connect' : Object.keys(upgrade)[0];
}

// Created once: a control plane and its proxies check every route.
const VIRTUAL_HOST_CHECKS = {
  headerManipulation: checkHeaderManipulation,
  cors: checkCors,
  csrf: checkCsrf,
  dlp: checkDlp,
  ...EXT_PROC_ROUTE_CHECKS,
  retries: checkRetries,
};

const ROUTE_CHECKS: FieldChecks<RouteOptions> = {
  prefixRewrite: checkWrittenPath,
  regexRewrite: ({ pattern }, path) => invalidRewrite(!pattern?.regex && 'regexRewrite needs a pattern', path),
  hostRewrite: checkRewriteHost,
  hostRewriteHeader: (name, path) =>
    invalidRewrite(!isHeaderName(name) && `invalid header name '${name}' in hostRewriteHeader`, path),
  hostRewritePathRegex: ({ pattern }, path) =>
    invalidRewrite(!pattern?.regex && 'hostRewritePathRegex needs a pattern', path),
  faults: checkFaults,
  lbHash: checkLbHash,
  shadowing: checkShadowing,
  upgrades: checkUpgrades,
};
