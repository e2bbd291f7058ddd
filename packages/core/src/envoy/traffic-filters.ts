import type { Listener, Route } from '../contract/snapshot.ts';
import type { Level } from './level.ts';
import { message, protoDuration, typed, type EnvoyMessage } from './message.ts';

type RouteLevel = Route['options'];
type Csrf = NonNullable<Level['csrf']>;
type StringMatcher = NonNullable<Csrf['additionalOrigins']>[number];

const PREFIX = 'envoy.extensions.filters.http';
const FAULT = 'envoy.filters.http.fault';
const CORS = 'envoy.filters.http.cors';
const CSRF = 'envoy.filters.http.csrf';

/** Returns the filters of `faults`, `cors` and `csrf` that one of the levels uses, by name. */
export function trafficFilters(usage: ReadonlySet<string>, { csrf }: Listener['httpOptions']) {
  const uses = (option: string): boolean => usage.has(option);
  return {
    fault: [FAULT, uses('faults') ? typed(`${PREFIX}.fault.v3.HTTPFault`) : undefined],
    cors: [CORS, uses('cors') ? typed(`${PREFIX}.cors.v3.Cors`) : undefined],
    csrf: [CSRF, uses('csrf') || csrf ? csrfPolicy(csrf ?? {}) : undefined],
  } as const;
}

/** Returns the settings of one level for these filters. */
export function trafficOf(level: Level): Record<string, EnvoyMessage | undefined> {
  const { faults, cors } = level as RouteLevel;
  return {
    [FAULT]: faults && faultPolicy(faults),
    [CORS]: cors && corsPolicy(cors),
    [CSRF]: level.csrf && csrfPolicy(level.csrf),
  };
}

/** Returns `request_mirror_policies` of a route. */
export function mirrorsOf({ shadowing }: RouteLevel): EnvoyMessage[] | undefined {
  const { upstream, percentage = 0, disableShadowHostSuffixAppend, hostRewriteLiteral } = shadowing ?? {};
  if (!upstream) return undefined;
  return [
    message({
      cluster: `${upstream.name}_${upstream.namespace}`,
      runtime_fraction: { default_value: percent(percentage) },
      disable_shadow_host_suffix_append: disableShadowHostSuffixAppend || undefined,
      host_rewrite_literal: hostRewriteLiteral || undefined,
    }),
  ];
}

function faultPolicy({ abort, delay }: NonNullable<RouteLevel['faults']>): EnvoyMessage {
  return typed(
    `${PREFIX}.fault.v3.HTTPFault`,
    message({
      abort: abort && { http_status: abort.httpStatus, percentage: percent(abort.percentage) },
      delay: delay && { fixed_delay: protoDuration(delay.fixedDelay), percentage: percent(delay.percentage) },
    }),
  );
}

function corsPolicy(cors: NonNullable<RouteLevel['cors']>): EnvoyMessage {
  const { allowOrigin = [], allowOriginRegex = [] } = cors;
  return typed(
    `${PREFIX}.cors.v3.CorsPolicy`,
    message({
      allow_origin_string_match: [
        ...allowOrigin.map((exact) => ({ exact })),
        ...allowOriginRegex.map((regex) => ({ safe_regex: { regex } })),
      ],
      allow_methods: joined(cors.allowMethods),
      allow_headers: joined(cors.allowHeaders),
      expose_headers: joined(cors.exposeHeaders),
      max_age: cors.maxAge,
      allow_credentials: cors.allowCredentials,
      filter_enabled: cors.disableForRoute ? { default_value: percent(0) } : undefined,
    }),
  );
}

/** Returns a policy of CSRF; an empty one checks nothing. */
export function csrfPolicy({ filterEnabled, shadowEnabled, additionalOrigins }: Csrf): EnvoyMessage {
  return typed(
    `${PREFIX}.csrf.v3.CsrfPolicy`,
    message({
      filter_enabled: { default_value: filterEnabled?.defaultValue ?? { numerator: 0 } },
      shadow_enabled: shadowEnabled && { default_value: shadowEnabled.defaultValue },
      additional_origins: additionalOrigins?.map(stringMatcher),
    }),
  );
}

function stringMatcher({ ignoreCase, safeRegex, ...text }: StringMatcher): EnvoyMessage {
  return message({ ...text, safe_regex: safeRegex, ignore_case: ignoreCase || undefined });
}

const joined = (texts: readonly string[] | undefined): string | undefined => texts?.join(',');

/** A share in percent, as Envoy writes fractions. */
function percent(share = 0): EnvoyMessage {
  return { numerator: Math.round(share * 10_000), denominator: 'MILLION' };
}
