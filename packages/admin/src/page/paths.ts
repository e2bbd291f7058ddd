import type { ResourceKey } from '@edge-gateway/core';
import { href, html, type Markup } from './html.ts';
import { partsOf } from './resource-rows.ts';

/** The pages of the ports, besides the overview. */
export const PATHS = {
  /** The home page of the proxy admin. */
  commands: '/',
  graphql: '/graphql',
  resources: '/status/resources',
  resource: '/status/resource',
  problems: '/status/problems',
  virtualServices: '/status/virtual-services',
  virtualService: '/status/virtual-service',
  upstreams: '/status/upstreams',
  upstream: '/status/upstream',
  traffic: '/status/traffic',
  certificates: '/status/certificates',
  proxies: '/status/proxies',
  translations: '/status/translations',
  log: '/status/log',
  explain: '/status/explain',
  search: '/status/search',
  events: '/status/events',
} as const;

/** Renders a link to a resource. */
export function resourceLink(key: ResourceKey): Markup {
  const { kind, namespace, name } = partsOf(key);
  return html`<a href="${href(PATHS.resource, { kind, namespace, name })}">${namespace}/${name}</a>`;
}

/** Renders a link to the routes of a virtual service. */
export function virtualServiceLink({ namespace, name }: { readonly namespace: string; readonly name: string }): Markup {
  return html`<a href="${href(PATHS.virtualService, { namespace, name })}">${namespace}/${name}</a>`;
}

/** Renders a link to the hosts of an upstream. */
export function upstreamLink(name: string): Markup {
  return html`<a href="${href(PATHS.upstream, { name })}">${name}</a>`;
}
