import { isDeepStrictEqual } from 'node:util';
import type { Counter, Metrics, Route, VirtualHost } from '@edge-gateway/core';
import { responseStats, type ResponseStats } from './http-stats.ts';

/** Maximum number of routes with statistics; requests of further ones count for their listener only. */
const MAX_ROUTES = 200;

/** The response statistics of a route. */
export interface CountedRoute extends ResponseStats {
  /** Sum of the durations of its requests, in microseconds. */
  readonly timeUs: Counter;
}

interface Entry {
  readonly stats: CountedRoute;
  readonly host: VirtualHost;
  readonly route: Route;
}

/** The response statistics of the routes that had requests. */
export interface RouteStats {
  /** Returns the statistics of a route of a virtual host; `undefined` if too many routes have some. */
  of(host: VirtualHost, route: Route): CountedRoute | undefined;
  /** Removes the statistics of routes that are no longer served, or now match other requests. */
  prune(isServed: (host: VirtualHost) => boolean, served: () => Iterable<VirtualHost>): void;
}

/** Creates the statistics of routes; each starts with the first request. */
export function createRouteStats(metrics: Metrics): RouteStats {
  const entries = new Map<string, Entry>();

  function add(host: VirtualHost, route: Route): CountedRoute | undefined {
    if (entries.size >= MAX_ROUTES) return undefined;
    const path = `${prefixOf(host, route)}downstream_rq_`;
    const metric = 'envoy_vhost_route_downstream_rq_';
    const labels = { envoy_virtual_host: host.name, envoy_route: route.name };
    const stats = {
      ...responseStats(metrics, { path, metric, labels }),
      timeUs: metrics.counter({ path: `${path}time_us`, metric: `${metric}time_us`, labels }),
    };
    entries.set(route.name, { stats, host, route });
    return stats;
  }

  return {
    of: (host, route) => entries.get(route.name)?.stats ?? add(host, route),
    prune(isServed, served) {
      const replaced = [...entries].filter(([, { host }]) => !isServed(host));
      if (replaced.length === 0) return;
      const hosts = new Map(Array.from(served(), (host) => [host.name, host]));
      for (const [name, entry] of replaced) {
        const host = hosts.get(entry.host.name);
        const route = host?.routes.find((each) => each.name === name);
        if (host && route && isDeepStrictEqual(route.matchers, entry.route.matchers)) {
          entries.set(name, { ...entry, host, route });
          continue;
        }
        entries.delete(name);
        metrics.remove(prefixOf(entry.host, entry.route));
      }
    },
  };
}

function prefixOf(host: VirtualHost, route: Route): string {
  return `vhost.${segment(host.name)}.route.${segment(route.name)}.`;
}

/** Dots separate the segments of a path. */
function segment(name: string): string {
  return name.replaceAll(/[.\s]/g, '_');
}
