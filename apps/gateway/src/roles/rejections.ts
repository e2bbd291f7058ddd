import {
  keyOf,
  SETTINGS_KEY,
  type ControlPlane,
  type ControlPlaneState,
  type ObservedProblem,
  type ProxyRejection,
  type ResourceKey,
} from '@edge-gateway/core';
import { TYPE } from '@edge-gateway/xds/resources';

/** The rejections of a proxy. */
export interface RejectionOf {
  readonly proxy: string;
  readonly node: string;
  readonly rejection: ProxyRejection;
}

/** Names this observer of resources. */
const OBSERVER = 'proxies';

/** Returns a function that adds rejections to the status of resources, and removes them when proxies accept the resource. */
export function createRejectionReport(controlPlane: ControlPlane): (rejections: readonly RejectionOf[]) => void {
  let reported = new Map<ResourceKey, string>();
  return (rejections) => {
    const { state } = controlPlane;
    if (!state) return;
    const problems = new Map<ResourceKey, Map<string, ObservedProblem>>();
    for (const each of rejections) {
      const key = resourceOf(each, state);
      if (!key) continue;
      const known = problems.get(key) ?? new Map<string, ObservedProblem>();
      const problem = problemOf(each);
      problems.set(key, known.set(problem.message, problem));
    }
    const now = new Map(Array.from(problems, ([key, found]) => [key, [...found.keys()].sort().join('\n')] as const));
    for (const key of reported.keys()) if (!now.has(key)) controlPlane.observe(key, undefined, OBSERVER);
    for (const [key, text] of now) {
      if (reported.get(key) === text) continue;
      controlPlane.observe(key, { problems: [...problems.get(key)!.values()], notes: [] }, OBSERVER);
    }
    reported = now;
  };
}

/** Equal rejections by several proxies with the same name are one problem. */
function problemOf({ proxy, rejection: { field, message } }: RejectionOf): ObservedProblem {
  const at = field === '' ? '' : ` (${field})`;
  return { severity: 'error', path: ['spec'], message: `rejected by proxy ${proxy}${at}: ${message}` };
}

/** Returns the resource that a part of a state was translated from. */
function resourceOf({ proxy, rejection }: RejectionOf, state: ControlPlaneState): ResourceKey | undefined {
  const { type, resource } = rejection;
  const snapshot = state.snapshots.get(proxy);
  const listeners = (snapshot?.listeners ?? []).flatMap((listener) => [
    listener,
    ...(listener.parts ?? []).flatMap(({ http }) => http ?? []),
  ]);
  switch (type) {
    case TYPE.virtualHost: {
      const hosts = listeners.flatMap(({ name, virtualHosts }) =>
        virtualHosts.filter((each) => `${name}/${each.name}` === resource),
      );
      return hosts[0] && keyOf('VirtualService', hosts[0].virtualService);
    }
    case TYPE.listener: {
      const found = listeners.find(({ name }) => name === resource);
      return found && keyOf('Gateway', found.gateway);
    }
    case TYPE.upstream:
    case TYPE.endpointSet: {
      const found = snapshot?.upstreams.find(({ name }) => name === resource);
      return found && keyOf('Upstream', found.ref);
    }
    case TYPE.authConfig:
      return keyOf('AuthConfig', refOf(resource));
    case TYPE.rateLimitConfig:
      return keyOf('RateLimitConfig', refOf(resource));
    case TYPE.graphqlApi:
      return keyOf('GraphQLApi', refOf(resource));
    case TYPE.settings:
      return SETTINGS_KEY;
    default:
      return undefined;
  }
}

/** Reads `<namespace>.<name>`, with the version of an earlier one. */
function refOf(resource: string): { namespace: string; name: string } {
  const [plain = ''] = resource.split('@');
  const dot = plain.indexOf('.');
  return { namespace: plain.slice(0, dot), name: plain.slice(dot + 1) };
}
