import type { ResourceRef } from '@edge-gateway/core';
import { dig, items, refAt, type StatusObject } from '../objects.ts';
import { reportsOf } from '../status.ts';
import type { Check } from './check.ts';
import { statusProblems } from './statuses.ts';

/** The states of the virtual services, and what they refer to that is not there. */
export const virtualServices: Check = {
  name: 'VirtualServices',
  excludedBy: 'virtual-services',
  kind: 'VirtualService',
  run({ objects, everything }) {
    const found = objects.filter(({ kind }) => kind === 'VirtualService');
    const known = new Set(everything.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`));
    const isKnown = (kind: string, ref: ResourceRef) => known.has(`${kind} ${ref.namespace} ${ref.name}`);
    return [
      ...statusProblems(found, { kind: 'VirtualService', noun: 'virtual service' }),
      ...found.flatMap((object) =>
        referenceProblems(object, (kind, ref) => isKnown(kind, ref) || isReported(object, ref)),
      ),
    ];
  },
};

/** Returns true if the status of a resource already names the missing resource, so that it is reported only once. */
function isReported(object: StatusObject, { namespace, name }: ResourceRef): boolean {
  const quoted = `{ ${namespace}.${name} }`;
  return reportsOf(object).some(({ state, reason }) => state !== 'Pending' && reason.includes(quoted));
}

type IsKnown = (kind: string, ref: ResourceRef) => boolean;

function referenceProblems(object: StatusObject, isKnown: IsKnown): string[] {
  const { namespace, name } = object.metadata;
  const host = dig(object.spec, 'virtualHost');
  const routes = items(host, 'routes');
  const upstreams = routes.flatMap((route) => refAt(route, namespace, 'routeAction', 'single', 'upstream') ?? []);
  const unknownUpstreams = upstreams
    .filter((ref) => !isKnown('Upstream', ref))
    .map(
      (ref) =>
        `Virtual service references unknown upstream: (Virtual service: ${namespace} ${name} | Upstream: ${ref.namespace} ${ref.name})`,
    );
  const places: [place: string, options: unknown][] = [
    ['Virtual host', dig(host, 'options')],
    ...routes.map((route): [string, unknown] => ['Route', dig(route, 'options')]),
    ...routes
      .flatMap((route) => items(route, 'routeAction', 'multi', 'destinations'))
      .map((one): [string, unknown] => ['Weighted destination', dig(one, 'options')]),
  ];
  const unknownOptions = items(host, 'optionsConfigRefs', 'delegateOptions')
    .flatMap((ref) => refAt({ ref }, namespace, 'ref') ?? [])
    .filter((ref) => !isKnown('VirtualHostOption', ref))
    .map((ref) => unknown('Virtual host', 'VirtualHostOption', { object, ref }));
  return [
    ...unknownUpstreams,
    ...unknownOptions,
    ...places.flatMap(([place, options]) => policyProblems(place, options, { object, isKnown })),
  ];
}

const RATE_LIMITS = ['rateLimitConfigs', 'rateLimitEarlyConfigs', 'rateLimitRegularConfigs'];

function policyProblems(place: string, options: unknown, at: { object: StatusObject; isKnown: IsKnown }): string[] {
  const { object, isKnown } = at;
  const { namespace } = object.metadata;
  const auth = refAt(options, namespace, 'extauth', 'configRef');
  const limits = RATE_LIMITS.flatMap((member) => items(options, member, 'refs')).flatMap(
    (ref) => refAt({ ref }, namespace, 'ref') ?? [],
  );
  return [
    ...(auth && !isKnown('AuthConfig', auth) ? [unknown(place, 'auth config', { object, ref: auth })] : []),
    ...limits
      .filter((ref) => !isKnown('RateLimitConfig', ref))
      .map((ref) => unknown(place, 'rate limit config', { object, ref })),
  ];
}

function unknown(place: string, noun: string, { object, ref }: { object: StatusObject; ref: ResourceRef }): string {
  return [
    `${place} references unknown ${noun}:`,
    `  Virtual service: ${object.metadata.namespace} ${object.metadata.name}`,
    `  ${noun[0]!.toUpperCase()}${noun.slice(1)}: ${ref.namespace} ${ref.name}`,
  ].join('\n');
}
