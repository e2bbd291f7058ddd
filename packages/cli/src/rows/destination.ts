import { dig, items, refAt, text } from '../objects.ts';

/** Where one destination leads: `ns.name (upstream)`, `ns.name (service)`, …; a missing namespace is the holder's. */
export function destinationText(destination: unknown, namespace: string): string {
  const upstream = refAt(destination, namespace, 'upstream');
  if (upstream) return `${upstream.namespace}.${upstream.name} (upstream)`;
  const service = refAt(destination, namespace, 'kube', 'ref');
  if (service) return `${service.namespace}.${service.name} (service)`;
  const consul = text(destination, 'consul', 'serviceName');
  return consul ? `${consul} (service)` : '';
}

/** What a route does, as one cell. */
export function actionText(route: unknown, namespace: string): string {
  if (dig(route, 'routeAction')) return routeActionText(dig(route, 'routeAction'), namespace);
  if (dig(route, 'redirectAction')) return text(route, 'redirectAction', 'hostRedirect');
  if (dig(route, 'directResponseAction')) return text(route, 'directResponseAction', 'status');
  const api = refAt(route, namespace, 'graphqlApiRef');
  if (api) return `${api.namespace}.${api.name} (graphql api)`;
  const table = delegateRef(route, namespace);
  return table ? `${table.namespace}.${table.name} (route table)` : '';
}

/** The route table a delegating route names; the deprecated fields beside `ref` win. */
export function delegateRef(route: unknown, namespace: string) {
  return refAt(route, namespace, 'delegateAction') ?? refAt(route, namespace, 'delegateAction', 'ref');
}

function routeActionText(action: unknown, namespace: string): string {
  if (dig(action, 'single')) return destinationText(dig(action, 'single'), namespace);
  if (dig(action, 'multi')) return `${items(action, 'multi', 'destinations').length} destinations`;
  const group = refAt(action, namespace, 'upstreamGroup');
  if (group) return `upstream group: ${group.name}.${group.namespace}`;
  const header = text(action, 'clusterHeader');
  if (header) return `cluster header: ${header}`;
  return dig(action, 'dynamicForwardProxy') ? 'dynamic forward proxy' : '';
}
