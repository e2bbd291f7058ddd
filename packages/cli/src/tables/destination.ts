import { redact } from '@edge-gateway/core';
import { stringify } from 'yaml';
import { dig, entries, items, refAt, text } from '../resources/objects.ts';

/** Where one destination leads: `ns.name (upstream)`, `ns.name (service)`, …; a missing namespace is the holder's. */
export function destinationText(destination: unknown, namespace: string): string {
  const upstream = refAt(destination, namespace, 'upstream');
  if (upstream) return `${upstream.namespace}.${upstream.name} (upstream)`;
  const service = refAt(destination, namespace, 'kube', 'ref');
  if (service) return `${service.namespace}.${service.name} (service)`;
  const consul = text(destination, 'consul', 'serviceName');
  return consul ? `${consul} (service)` : '';
}

const NO_ACTION: ReadonlySet<string> = new Set([
  'name',
  'matchers',
  'options',
  'optionsConfigRefs',
  'inheritableMatchers',
  'inheritablePathMatchers',
]);

/** What a route does, as one cell; an action without a short form, such as an invalid one, as it is written. */
export function actionText(route: unknown, namespace: string): string {
  const known = knownActionText(route, namespace);
  if (known || dig(route, 'delegateAction', 'selector')) return known;
  const written = entries(route).filter(([key]) => !NO_ACTION.has(key));
  if (written.length === 0) return '';
  const options = { collectionStyle: 'flow', lineWidth: 0, aliasDuplicateObjects: false } as const;
  return stringify(redact(Object.fromEntries(written)), options).trimEnd();
}

function knownActionText(route: unknown, namespace: string): string {
  if (dig(route, 'routeAction')) return routeActionText(dig(route, 'routeAction'), namespace);
  if (dig(route, 'redirectAction')) return redirectText(dig(route, 'redirectAction'));
  if (dig(route, 'directResponseAction')) return text(route, 'directResponseAction', 'status');
  const api = refAt(route, namespace, 'graphqlApiRef');
  if (api) return `${api.namespace}.${api.name} (graphql api)`;
  // The deprecated fields beside `ref` win.
  const table = refAt(route, namespace, 'delegateAction') ?? refAt(route, namespace, 'delegateAction', 'ref');
  return table ? `${table.namespace}.${table.name} (route table)` : '';
}

function redirectText(redirect: unknown): string {
  const host = text(redirect, 'hostRedirect');
  const scheme = dig(redirect, 'httpsRedirect') === true ? 'https' : text(redirect, 'schemeRedirect');
  const port = text(redirect, 'portRedirect');
  const rewrite = text(redirect, 'prefixRewrite');
  const regex = text(redirect, 'regexRewrite', 'substitution');
  const path = text(redirect, 'pathRedirect') || (rewrite && `${rewrite} (prefix)`) || (regex && `${regex} (regex)`);
  if (!scheme && !port && !path) return host;
  const authority = `${host || '<host>'}${port && `:${port}`}`;
  return `redirect: ${scheme || host || port ? `${scheme || '<scheme>'}://${authority}` : ''}${path}`;
}

function weightedText(destinations: readonly unknown[], namespace: string): string {
  const weights = destinations.map((one) => Number(text(one, 'weight') || 0));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = destinations.map((one, i) => {
    const share = total > 0 ? Number(((weights[i]! / total) * 100).toFixed(1)) : 0;
    return `${destinationText(dig(one, 'destination'), namespace)} ${share} %`;
  });
  return `${destinations.length} destinations: ${shares.join(', ')}`;
}

function routeActionText(action: unknown, namespace: string): string {
  if (dig(action, 'single')) return destinationText(dig(action, 'single'), namespace);
  if (dig(action, 'multi')) return weightedText(items(action, 'multi', 'destinations'), namespace);
  const group = refAt(action, namespace, 'upstreamGroup');
  if (group) return `upstream group: ${group.name}.${group.namespace}`;
  const header = text(action, 'clusterHeader');
  if (header) return `cluster header: ${header}`;
  return dig(action, 'dynamicForwardProxy') ? 'dynamic forward proxy' : '';
}
