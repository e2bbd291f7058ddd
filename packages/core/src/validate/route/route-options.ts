import { isHeaderName } from '../../http/reserved-headers.ts';
import { parseDuration } from '../../syntax/duration.ts';
import { isHost } from '../../syntax/host.ts';
import type { Cors } from '../../schema/route/cors.ts';
import type { RouteOptions, VirtualHostOptions } from '../../schema/route/route-options.ts';
import type { Faults, Shadowing, Upgrade } from '../../schema/route/small-options.ts';
import { fields, reporterOf, type Check } from '../check.ts';
import { checkHeaderManipulation } from './header-manipulation.ts';
import { checkPath } from './path.ts';
import { checkRetries } from './retries.ts';
import { checkTransformations } from '../transformation/transformations.ts';

/** Minimum injected delay, in milliseconds. */
const MIN_DELAY_MS = 1000;
const invalidCors = reporterOf('INVALID_CORS');
const invalidFault = reporterOf('INVALID_FAULT');
const invalidRewrite = reporterOf('INVALID_REWRITE');
const invalidShadowing = reporterOf('INVALID_SHADOWING');
const invalidUpgrade = reporterOf('INVALID_UPGRADE');

/** Returns problems of the options of one virtual host. */
export const checkVirtualHostOptions: Check<VirtualHostOptions> = (options, at) => [
  ...fields(options, at, { headerManipulation: checkHeaderManipulation, cors: checkCors, retries: checkRetries }),
  ...checkTransformations(options, at),
];

/** Returns problems of the options of one route. */
export const checkRouteOptions: Check<RouteOptions> = (options, at) => {
  const { prefixRewrite, regexRewrite } = options;
  return [
    ...checkVirtualHostOptions(options as VirtualHostOptions, at),
    ...invalidRewrite(prefixRewrite && regexRewrite && 'prefixRewrite and regexRewrite cannot be combined', [
      ...at,
      'regexRewrite',
    ]),
    ...fields(options, at, {
      prefixRewrite: checkPath,
      regexRewrite: ({ pattern }, path) => invalidRewrite(!pattern?.regex && 'regexRewrite needs a pattern', path),
      hostRewrite: checkRewriteHost,
      hostRewriteHeader: (name, path) =>
        invalidRewrite(!isHeaderName(name) && `invalid header name '${name}' in hostRewriteHeader`, path),
      hostRewritePathRegex: ({ pattern }, path) =>
        invalidRewrite(!pattern?.regex && 'hostRewritePathRegex needs a pattern', path),
      faults: checkFaults,
      shadowing: checkShadowing,
      upgrades: checkUpgrades,
    }),
  ];
};

/** Returns the problem of a host that is not empty. */
export const checkRewriteHost: Check<string> = (host, at) =>
  invalidRewrite(
    host && !isHost(host) && `invalid host '${host}': use a name or an IP address, optionally with a port`,
    at,
  );

/** A `cors` block must allow some origin, unless it only disables CORS. */
const checkCors: Check<Cors> = ({ allowOrigin, allowOriginRegex, disableForRoute }, at) => {
  const isUseful = allowOrigin?.length || allowOriginRegex?.length || disableForRoute;
  return invalidCors(!isUseful && 'cors must allow at least one origin', at, {
    hint: 'allowOrigin, allowOriginRegex',
  });
};

const checkFaults: Check<Faults> = (faults, at) =>
  fields(faults, at, {
    abort: ({ httpStatus: status }, path) => {
      const isValid = status !== undefined && status >= 200 && status <= 599;
      return invalidFault(!isValid && 'the status of an abort must be between 200 and 599', path);
    },
    delay: ({ fixedDelay }, path) => {
      const isLong = fixedDelay !== undefined && parseDuration(fixedDelay) >= MIN_DELAY_MS;
      return invalidFault(!isLong && 'a delay must be at least 1s', path);
    },
  });

const checkShadowing: Check<Shadowing> = ({ upstream }, at) =>
  invalidShadowing(!upstream?.name && 'shadowing needs an upstream', at, { hint: 'upstream' });

const checkUpgrades: Check<readonly Upgrade[]> = (upgrades, at) => {
  const types = upgrades.map((upgrade) => Object.keys(upgrade)[0]);
  return types.flatMap((type, i) => [
    ...invalidUpgrade(type === undefined && 'the upgrade has no protocol', [...at, i]),
    ...invalidUpgrade(type && types.indexOf(type) < i && `the upgrade ${type} is listed twice`, [...at, i]),
  ]);
};
