import type { Route, VirtualHost } from '@edge-gateway/core';
import type { RouteOptions, VirtualHostOptions } from '@edge-gateway/core/schema';

/** A policy of a route. */
export interface RoutePolicy {
  readonly name: string;
  /** Names and numbers from its settings; never values that could be secret. */
  readonly detail: string;
  readonly from: 'route' | 'virtual host';
}

type Options = RouteOptions & VirtualHostOptions;

interface Shown<Value> {
  readonly name: string;
  /** What is shown of its value. Default: nothing. */
  readonly detail?: (value: Value) => string;
}

const LIMITS = 'rate limit';
const TRANSFORMATION = 'transformation';

/** Options in the order in which they apply to requests; others follow, sorted by name. */
const POLICIES: { readonly [Option in keyof Options]?: Shown<NonNullable<Options[Option]>> } = {
  faults: { name: 'fault injection', detail: keys },
  cors: {
    name: 'CORS',
    detail: ({ allowOrigin = [], allowOriginRegex = [] }) => list([...allowOrigin, ...allowOriginRegex]),
  },
  extauth: { name: 'external auth', detail: authDetail },
  jwt: { name: 'JWT', detail: ({ providers = {} }) => list(Object.keys(providers)) },
  jwtStaged: { name: 'JWT', detail: stages },
  jwtProvidersStaged: { name: 'JWT', detail: stages },
  rbac: { name: 'RBAC', detail: ({ policies = {} }) => list(Object.keys(policies)) },
  ratelimitBasic: { name: LIMITS, detail: keys },
  ratelimit: { name: LIMITS },
  ratelimitEarly: { name: LIMITS, detail: () => 'early' },
  ratelimitRegular: { name: LIMITS, detail: () => 'regular' },
  rateLimitConfigs: { name: LIMITS, detail: refsOf },
  rateLimitEarlyConfigs: { name: LIMITS, detail: refsOf },
  rateLimitRegularConfigs: { name: LIMITS, detail: refsOf },
  transformations: { name: TRANSFORMATION, detail: keys },
  stagedTransformations: { name: TRANSFORMATION, detail: keys },
  extProc: { name: 'external processing' },
  csrf: { name: 'CSRF' },
  headerManipulation: { name: 'headers', detail: keys },
  prefixRewrite: { name: 'rewrite', detail: String },
  regexRewrite: { name: 'rewrite', detail: () => 'regular expression' },
  hostRewrite: { name: 'host', detail: String },
  autoHostRewrite: { name: 'host', detail: () => 'of the upstream' },
  timeout: { name: 'timeout', detail: String },
  retries: { name: 'retries', detail: ({ numRetries = 1, retryOn = '' }) => `${numRetries} ${retryOn}`.trimEnd() },
  shadowing: { name: 'mirroring', detail: ({ upstream, percentage = 0 }) => `${refText(upstream)} ${percentage} %` },
  upgrades: { name: 'upgrades', detail: (upgrades) => list(upgrades.flatMap((each) => Object.keys(each))) },
  lbHash: { name: 'hash' },
  dlp: { name: 'masking' },
};

const ORDER = Object.keys(POLICIES);

/** Returns the policies of a route: its own, and those of its virtual host that it does not replace. */
export function policiesOf(route: Route, host: VirtualHost): RoutePolicy[] {
  const own = entriesOf(route.options);
  const replaced = new Set(own.map(([option]) => option));
  const inherited = entriesOf(host.options).filter(([option]) => !replaced.has(option));
  return [
    ...own.map(([option, value]) => ({ option, value, from: 'route' as const })),
    ...inherited.map(([option, value]) => ({ option, value, from: 'virtual host' as const })),
  ]
    .sort((a, b) => rank(a.option) - rank(b.option))
    .map(({ option, value, from }) => ({ name: known(option)?.name ?? option, detail: detailOf(option, value), from }));
}

function entriesOf(options: object): [string, unknown][] {
  return Object.entries(options).filter(([, value]) => value !== undefined);
}

function known(option: string): Shown<unknown> | undefined {
  return POLICIES[option as keyof Options] as Shown<unknown> | undefined;
}

function rank(option: string): number {
  const index = ORDER.indexOf(option);
  return index < 0 ? ORDER.length : index;
}

function detailOf(option: string, value: unknown): string {
  const isDisabled = typeof value === 'object' && value !== null && 'disable' in value && value.disable === true;
  return isDisabled ? 'off' : (known(option)?.detail?.(value) ?? '');
}

function keys(value: object): string {
  return list(Object.keys(value));
}

function authDetail({ configRef, customAuth }: NonNullable<Options['extauth']>): string {
  if (configRef) return refText(configRef);
  return customAuth ? `auth server ${customAuth.name ?? ''}`.trimEnd() : '';
}

function stages(value: object): string {
  return list(Object.keys(value).map((stage) => `${stage === 'beforeExtAuth' ? 'before' : 'after'} external auth`));
}

function refsOf({ refs = [] }: { readonly refs?: readonly unknown[] }): string {
  return list(refs.map(refText));
}

function refText(ref: unknown): string {
  const { namespace, name } = (ref ?? {}) as { readonly namespace?: string; readonly name?: string };
  return [namespace, name].filter(Boolean).join('/');
}

/** Truncates long lists. */
function list(texts: readonly unknown[]): string {
  const shown = texts.slice(0, 4).map(String).join(', ');
  return texts.length > 4 ? `${shown} and ${texts.length - 4} more` : shown;
}
