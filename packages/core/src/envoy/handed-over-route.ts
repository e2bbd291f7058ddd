import { HIDDEN_DOT_SEGMENT } from './hidden-dot-segment.ts';
import { withoutFilters } from './http-filters.ts';
import type { EnvoyMessage } from './message.ts';

/** Returns a route that hands requests over unchanged: the Node proxy applies all options. */
export function handedOverRoute(cluster: string, filters: ReadonlySet<string>): EnvoyMessage {
  return {
    route: {
      cluster,
      timeout: '0s',
      // The Node proxy ends idle streams itself.
      idle_timeout: '0s',
      max_stream_duration: { max_stream_duration: '0s' },
      upgrade_configs: [
        { upgrade_type: 'websocket', enabled: true },
        { upgrade_type: 'CONNECT', enabled: true },
      ],
      cluster_not_found_response_code: 'SERVICE_UNAVAILABLE',
    },
    ...withoutFilters(filters),
  };
}

/** Returns a route that rejects requests, because no data plane can apply its options. */
export function rejectedRoute(filters: ReadonlySet<string>): EnvoyMessage {
  return { direct_response: { status: 500 }, ...withoutFilters(filters) };
}

/**
 * Returns the route that rejects paths with a hidden dot segment, as the gateway does. It comes first: an upstream that decodes `%2f` could
 * otherwise be reached at a path whose policies did not apply.
 */
export function guardRoute(filters: ReadonlySet<string>): EnvoyMessage {
  return {
    name: 'hidden-dot-segment',
    match: { safe_regex: { regex: `(?i).*(?:${HIDDEN_DOT_SEGMENT}).*` } },
    direct_response: { status: 400 },
    ...withoutFilters(filters),
  };
}
