import type { Listener, Route, VirtualHost } from '@edge-gateway/core';
import type { AppliedOption } from './explanation.ts';

/** Options in the order in which a request meets them; others follow by name. */
const ORDER: readonly string[] = [
  'earlyHeaderManipulation',
  'faults',
  'cors',
  'jwtStaged',
  'extauth',
  'stagedTransformations',
  'transformations',
  'jwt',
  'jwtProvidersStaged',
  'rbac',
  'ratelimit',
  'ratelimitBasic',
  'rateLimitConfigs',
  'csrf',
  'headerManipulation',
  'hostRewrite',
  'autoHostRewrite',
  'appendXForwardedHost',
  'prefixRewrite',
  'upgrades',
  'timeout',
  'retries',
];

interface Level {
  readonly from: AppliedOption['from'];
  readonly destination?: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The options that apply to a route, with the level that each comes from. */
export function appliedOptions(listener: Listener, host: VirtualHost, route: Route): AppliedOption[] {
  const levels = levelsOf(listener, host, route);
  const names = [...new Set(levels.flatMap(({ options }) => Object.keys(options)))].sort(byOrder);
  return names.flatMap((option) => ofOneOption(option, levels, listener));
}

/** The most specific first. */
function levelsOf(listener: Listener, host: VirtualHost, route: Route): Level[] {
  const destinations = route.action.type === 'forward' ? route.action.destinations : [];
  const early = listener.httpOptions.httpConnectionManagerSettings?.earlyHeaderManipulation;
  return [
    ...destinations.map(({ upstream, options }): Level => ({
      from: 'destination',
      destination: upstream,
      options: { ...options },
    })),
    { from: 'route', options: { ...route.options } },
    { from: 'virtual host', options: { ...host.options } },
    { from: 'listener', options: early ? { earlyHeaderManipulation: early } : {} },
  ];
}

function ofOneOption(option: string, levels: readonly Level[], listener: Listener): AppliedOption[] {
  const set = levels.filter(({ options }) => options[option] !== undefined);
  const applied = set.map(({ from, destination, options }): AppliedOption => {
    const replaced = set.some((other) => isMoreSpecific(other, from));
    const applies = option === 'headerManipulation' || !replaced;
    return { option, from, ...(destination !== undefined && { destination }), applies, value: options[option] };
  });
  const reversed = option === 'headerManipulation' && listener.routeOptions.mostSpecificHeaderMutationsWins === true;
  return reversed ? applied.toReversed() : applied;
}

const SPECIFIC: readonly AppliedOption['from'][] = ['listener', 'virtual host', 'route', 'destination'];

/** A destination replaces only for its own share, so it never replaces the others for good. */
function isMoreSpecific(other: Level, from: AppliedOption['from']): boolean {
  return other.from !== 'destination' && SPECIFIC.indexOf(other.from) > SPECIFIC.indexOf(from);
}

function byOrder(a: string, b: string): number {
  const [left, right] = [ORDER.indexOf(a), ORDER.indexOf(b)];
  if (left !== right) return (left < 0 ? ORDER.length : left) - (right < 0 ? ORDER.length : right);
  return a < b ? -1 : 1;
}
