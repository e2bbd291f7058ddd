import { formatPath, type Problem, type Snapshot } from '@edge-gateway/core';
import { explainRequest, type Explanation, type RequestToExplain } from '@edge-gateway/routing';
import { dig, items, type StatusObject } from '../resources/objects.ts';

const ROUTE = /^spec\.(?:virtualHost\.)?routes\[(\d+)\]/;
const EVERY_PATH = { prefix: '/' };

/** Returns whether the written route of a problem is the first of its resource for a request; `undefined` if it names no route. */
export type IsRouteOfRequest = (object: StatusObject, problem: Problem) => boolean | undefined;

/** Compares written routes with an explained request, by the code that serves. */
export function routesOfRequest(
  request: RequestToExplain,
  { listeners, virtualHost }: Explanation,
  snapshot: Snapshot,
): IsRouteOfRequest {
  const listener = snapshot.listeners.find(({ name }) => listeners.some((one) => one.chosen && one.name === name));
  const host = listener?.virtualHosts.find(({ name }) => name === virtualHost?.name);
  const matches = (written: unknown): boolean => {
    const matchers = items(written, 'matchers');
    const route = { name: '', logName: '', matchers: matchers.length > 0 ? matchers : [EVERY_PATH], options: {} };
    const source = { kind: 'VirtualService', ...host!.virtualService };
    const routes = [{ ...route, source, action: { type: 'direct', status: 200, body: '' } }];
    const only = { ...listener, virtualHosts: [{ ...host, options: {}, routes }] };
    const snapshotOfOne = { ...snapshot, listeners: [only] } as unknown as Snapshot;
    const explained = explainRequest(snapshotOfOne, { ...request, listener: listener!.name });
    return explained.routes.some(({ matched }) => matched);
  };
  return ({ kind, spec }, { path }) => {
    const index = Number(ROUTE.exec(formatPath(path))?.[1]);
    const routes = items(spec, ...(kind === 'VirtualService' ? ['virtualHost', 'routes'] : ['routes']));
    if (!host || !routes[index]) return undefined;
    const earlier = routes.slice(0, index).filter((route) => dig(route, 'delegateAction') === undefined);
    return matches(routes[index]) && !earlier.some(matches);
  };
}
