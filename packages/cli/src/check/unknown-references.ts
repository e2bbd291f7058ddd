import type { Kind, Problem } from '@edge-gateway/core';
import { dig, items, text, type StatusObject } from '../resources/objects.ts';

/** The kinds that virtual services refer to, with their names in messages. */
const NOUNS = {
  Upstream: 'upstream',
  AuthConfig: 'auth config',
  RateLimitConfig: 'rate limit config',
  VirtualHostOption: 'VirtualHostOption',
  RouteOption: 'RouteOption',
} as const satisfies Partial<Record<Kind, string>>;

interface Reference {
  readonly kind: keyof typeof NOUNS;
  readonly ref: unknown;
}

const LIMIT_FIELDS = ['rateLimitConfigs', 'rateLimitEarlyConfigs', 'rateLimitRegularConfigs'] as const;
/** Names of upstreams that exist only in memory. */
const IN_MEMORY = /^(?:kube|consul)-svc:/;

/**
 * Returns the references of VirtualServices to resources that are not among the objects. Routes in RouteTables, and weighted destinations and
 * groups of upstreams, are checked by the control plane only. `readable` returns whether the objects of a namespace are known.
 */
export function unknownReferences(
  objects: readonly StatusObject[],
  readable: (namespace: string) => boolean,
): Problem[] {
  const known = new Set(objects.map(({ kind, metadata }) => keyOf(kind, metadata)));
  return objects
    .filter(({ kind }) => kind === 'VirtualService')
    .flatMap((service) => {
      const found = new Map<string, Problem>();
      for (const { kind, ref } of referencesOf(service)) {
        const name = text(ref, 'name');
        const namespace = text(ref, 'namespace') || text(service, 'metadata', 'namespace');
        const key = keyOf(kind, { name, namespace });
        if (!name || IN_MEMORY.test(name) || known.has(key) || !readable(namespace)) continue;
        found.set(key, unknown(service, kind, `${namespace} ${name}`));
      }
      return [...found.values()];
    });
}

const keyOf = (
  kind: string | undefined,
  { namespace = '', name = '' }: { namespace?: string; name?: string },
): string => `${kind} ${namespace}/${name}`;

function referencesOf(service: StatusObject): Reference[] {
  const host = dig(service, 'spec', 'virtualHost');
  const routes = items(host, 'routes');
  return [
    ...ofHolder(host, 'VirtualHostOption'),
    ...routes.flatMap((route) => [
      ...ofHolder(route, 'RouteOption'),
      { kind: 'Upstream' as const, ref: dig(route, 'routeAction', 'single', 'upstream') },
      ...items(route, 'routeAction', 'multi', 'destinations').flatMap((one) => ofOptions(dig(one, 'options'))),
    ]),
  ];
}

function ofHolder(holder: unknown, kind: 'VirtualHostOption' | 'RouteOption'): Reference[] {
  const shared = items(holder, 'optionsConfigRefs', 'delegateOptions').map((ref) => ({ kind, ref }));
  return [...shared, ...ofOptions(dig(holder, 'options'))];
}

function ofOptions(options: unknown): Reference[] {
  return [
    { kind: 'AuthConfig', ref: dig(options, 'extauth', 'configRef') },
    ...LIMIT_FIELDS.flatMap((field) =>
      items(options, field, 'refs').map((ref) => ({ kind: 'RateLimitConfig' as const, ref })),
    ),
  ];
}

function unknown({ kind, metadata: { namespace, name } }: StatusObject, of: Reference['kind'], ref: string): Problem {
  const noun = NOUNS[of];
  const title = noun.charAt(0).toUpperCase() + noun.slice(1);
  const origin = { file: `Virtual service references unknown ${noun}`, line: 0, column: 0 };
  const message = `(Virtual service: ${namespace} ${name} | ${title}: ${ref})`;
  return { code: 'STATUS', severity: 'error', kind, namespace, name, path: [], origin, message };
}
