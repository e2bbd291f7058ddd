import type { SchemaNode, Static, Support } from './field.ts';
import { ListenerOptions, HttpListenerOptions, RouteConfigOptions } from './listener/gateway-options.ts';
import { Matcher } from './route/matcher.ts';
import { RedirectAction } from './route/route.ts';
import { RouteOptions, VirtualHostOptions, WeightedDestinationOptions } from './route/route-options.ts';
import { SslConfig } from './listener/ssl-config.ts';
import { UpstreamSpec } from './kind/upstream.ts';

/** The blocks of a snapshot. */
const BLOCKS = {
  HttpListenerOptions,
  ListenerOptions,
  Matcher,
  RedirectAction,
  RouteConfigOptions,
  RouteOptions,
  SslConfig,
  UpstreamSpec,
  VirtualHostOptions,
  WeightedDestinationOptions,
} as const;
type Blocks = { readonly [K in keyof typeof BLOCKS]: Static<(typeof BLOCKS)[K]> };

/**
 * Returns a copy of a block without the fields that are accepted but have no effect yet, at any depth: the rest is
 * what the data plane does.
 *
 * @example
 * inEffect('RouteOptions', { timeout: '2s', idleTimeout: '5s' }); // { timeout: '2s' } while `idleTimeout` is not supported
 */
export function inEffect<K extends keyof Blocks>(block: K, value: Blocks[K]): Blocks[K] {
  return strip(BLOCKS[block], value, []) as Blocks[K];
}

function hasEffect(support: Support = 'yes'): boolean {
  return support === 'yes' || support === 'kubernetes';
}

function strip(written: SchemaNode, value: unknown, enclosing: readonly SchemaNode[]): unknown {
  const node = enclosing.find(({ title }) => title !== undefined && title === written['x-ref']) ?? written;
  const inside = node.title === undefined ? enclosing : [...enclosing, node];
  const { items, properties, additionalProperties: values } = node;
  if (Array.isArray(value)) return items ? value.map((item) => strip(items, item, inside)) : value;
  if (typeof value !== 'object' || value === null || !(properties || values)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const field = properties ? properties[key] : values || undefined;
      if (!hasEffect(field?.['x-support'])) return [];
      return [[key, field ? strip(field, inner, inside) : inner]];
    }),
  );
}
