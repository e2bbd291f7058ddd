import { identityOfKey, keyOf, type Kind, type ResourceRef } from '../../resource/resource.ts';
import type { StoredResource } from '../../resource/stored.ts';
import type { ListenerBuild } from './listeners.ts';
import type { Memo } from '../memo.ts';
import { causeOf } from '../reference/find.ts';
import type { LocatedProblem } from '../status/report.ts';

/** A required listener, and why it is not served. */
export interface UnservedListener {
  /** As in the snapshot, e.g. `listener-::-8443`. */
  readonly name: string;
  readonly reason: string;
  /** The resources with the problem that is the reason; empty if the reason is not a problem of a resource. */
  readonly resources?: readonly (ResourceRef & { readonly kind: Kind })[];
}

/**
 * Returns the required listeners that are in no snapshot, by proxy: none of the resources that they should serve
 * is valid. Excludes gateways without virtual services and of unsupported types.
 */
export function unservedListeners(memo: Memo): ReadonlyMap<string, readonly UnservedListener[]> {
  const byProxy = new Map<string, readonly UnservedListener[]>();
  for (const build of memo.listeners.values()) {
    if (build.listener || build.isPart || !build.gateway.spec.httpGateway) continue;
    const wanted = memo.rejected.filter((stored) => mayBelong(stored, build));
    if (build.builds.length === 0 && wanted.length === 0 && !build.frozen) continue;
    const unserved = { name: build.gateway.listener, ...reasonOf(build, wanted) };
    byProxy.set(build.proxy, [...(byProxy.get(build.proxy) ?? []), unserved]);
  }
  return byProxy;
}

/** Returns false for a rejected virtual service that the gateway would not select, judging by its key and its TLS. */
function mayBelong({ key, asksForTls }: StoredResource, { gateway: { spec } }: ListenerBuild): boolean {
  const { virtualServices, virtualServiceNamespaces = [], virtualServiceSelector = {} } = spec.httpGateway ?? {};
  if ((spec.ssl ?? false) !== (asksForTls ?? false)) return false;
  if (spec.httpGateway?.virtualServiceExpressions || Object.keys(virtualServiceSelector).length > 0) return false;
  const { namespace } = identityOfKey(key);
  if (virtualServices?.length) {
    return virtualServices.some(({ name = '', namespace: own }) => {
      return key === keyOf('VirtualService', { name, namespace: own || namespace });
    });
  }
  const isInside = virtualServiceNamespaces.length === 0 || virtualServiceNamespaces.includes('*');
  return isInside || virtualServiceNamespaces.includes(namespace);
}

function reasonOf(build: ListenerBuild, rejected: readonly StoredResource[]): Omit<UnservedListener, 'name'> {
  const found = [...build.problems, ...build.services.flat()];
  const first = found.find(({ severity }) => severity === 'error') ?? found[0];
  if (first) {
    const about = locatedProblems(build).filter(({ problem }) => problem.message === first.message);
    return { reason: first.message, resources: [...new Set(about.map(({ key }) => key))].map(identityOfKey) };
  }
  const [stored] = rejected;
  if (!stored) return { reason: 'none of its virtual services can be served' };
  return { reason: `${stored.key} is rejected: ${causeOf(stored)}`, resources: [identityOfKey(stored.key)] };
}

/** Returns the problems of the listener's TLS, its virtual services and its gateway with the resource of each. */
function locatedProblems({ gateway, problems, builds, services, tls }: ListenerBuild): readonly LocatedProblem[] {
  const own = keyOf('Gateway', gateway.ref);
  return [
    ...(tls?.located ?? []),
    ...services.flatMap((list, i) => list.map((problem) => ({ key: builds[i]!.stored.key, problem }))),
    ...problems.flatMap((problem) => (problem.repeated ? [] : [{ key: own, problem }])),
  ];
}
