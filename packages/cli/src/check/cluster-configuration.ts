import type { Kind, Problem } from '@edge-gateway/core';
import type { StatusObject } from '../resources/objects.ts';
import { reportsOf } from '../resources/status.ts';
import { authServersOf } from './auth-servers.ts';
import { namespacesOf, type Configuration, type NamespaceFlags } from './configuration.ts';
import { unknownReferences } from './unknown-references.ts';

/** The kinds whose status is checked, with their names in messages. */
const CHECKED: Partial<Record<Kind, string>> = {
  Upstream: 'upstream',
  UpstreamGroup: 'upstream group',
  AuthConfig: 'auth config',
  RateLimitConfig: 'rate limit config',
  VirtualHostOption: 'VirtualHostOption',
  RouteOption: 'RouteOption',
  ListenerOption: 'ListenerOption',
  HttpListenerOption: 'HttpListenerOption',
  VirtualService: 'virtual service',
  RouteTable: 'route table',
  Gateway: 'gateway',
  Proxy: 'proxy',
  GraphQLApi: 'GraphQLApi',
};

/** Returns the configuration of a cluster, with the problems in the statuses of its resources, and references to missing ones. */
export function clusterConfiguration(objects: readonly StatusObject[], flags: NamespaceFlags): Configuration {
  // Without permission for all namespaces, only the objects of one were read.
  const isLimited = objects.every(({ metadata }) => metadata.namespace === flags.namespace);
  const readable = (namespace: string): boolean => !isLimited || namespace === flags.namespace;
  return {
    issues: [...objects.flatMap(problemsOf), ...unknownReferences(objects, readable)],
    namespaces: namespacesOf(objects, flags),
    hasApis: objects.some(({ kind }) => kind === 'GraphQLApi'),
    authServers: authServersOf(objects),
  };
}

function problemsOf(object: StatusObject): Problem[] {
  const noun = CHECKED[object.kind as Kind];
  if (noun === undefined) return [];
  const reports = reportsOf(object);
  if (reports.length === 0) {
    // The status of a RateLimitConfig is only written when it is used.
    return object.kind === 'RateLimitConfig' ? [] : [problem(object, `Found ${noun} with no status`, '')];
  }
  return reports.flatMap(({ state, reason, reportedBy }) => {
    const by = reportedBy ? ` by '${reportedBy}'` : '';
    if (state === 'Rejected') return [problem(object, `Found rejected ${noun}${by}`, reason)];
    if (state !== 'Warning') return [];
    return [{ ...problem(object, `Found ${noun} with warnings${by}`, reason), severity: 'warning' as const }];
  });
}

/** A problem that is printed as `<what>: <namespace> <name> (Reason: …)`. */
function problem({ kind, metadata: { namespace, name } }: StatusObject, what: string, reason: string): Problem {
  const hint = reason && `Reason: ${reason}`;
  const origin = { file: what, line: 0, column: 0 };
  const message = `${namespace} ${name}`;
  return { code: 'STATUS', severity: 'error', kind, namespace, name, path: [], origin, message, ...(hint && { hint }) };
}
