import type { Route, VirtualHost } from '@edge-gateway/core';
import { adminError } from '../../error-codes.ts';
import { html, type Content, type Markup } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { filterForm, pagedRows, pager, wordsIn } from '../paging.ts';
import { PATHS, resourceLink, upstreamLink, virtualServiceLink } from '../paths.ts';
import { policiesOf, type RoutePolicy } from '../policies.ts';
import { TONES, type ResourceRow } from '../resource-rows.ts';
import { actionText, matcherText } from '../route-text.ts';
import { badge, tableOf } from '../table.ts';
import type { VirtualServiceRow } from '../virtual-service-rows.ts';

const SERVED = ['served', 'not served'] as const;

/** The state of a virtual service by its key; `undefined` if only its snapshot is known. */
export type StateOf = (row: VirtualServiceRow) => ResourceRow | undefined;

/** The virtual services with their domains and policies. */
export function virtualServicesPage(
  all: readonly VirtualServiceRow[],
  parameters: URLSearchParams,
  stateOf: StateOf,
): PageBody {
  const [matches, served] = [wordsIn(parameters.get('q')), parameters.get('served')];
  const found = all.filter((row) => (!served || row.served.length > 0 === (served === 'served')) && matches(row.text));
  const paged = pagedRows(found, parameters);
  const filters = [
    { name: 'q', label: 'Name, domain, path or upstream' },
    { name: 'served', label: 'Show', values: SERVED },
  ];
  return {
    path: PATHS.virtualServices,
    heading: 'Virtual services',
    query: parameters.get('q') ?? '',
    content: html`${filterForm(PATHS.virtualServices, filters, parameters)}
<div id="virtual-services" data-live="change">${virtualServiceTable(paged.rows, stateOf)}${pager(PATHS.virtualServices, paged, parameters)}</div>`,
  };
}

/** Renders virtual services as a table. */
export function virtualServiceTable(rows: readonly VirtualServiceRow[], stateOf: StateOf): Markup {
  return tableOf({
    caption: 'Virtual services',
    hidesCaption: true,
    columns: ['Virtual service', 'State', 'Domains', { name: 'Routes', isNumber: true }, 'Policies'],
    empty: 'No virtual service matches.',
    rows: rows.map((row) => {
      const host = row.served[0]?.host;
      return [
        virtualServiceLink(row.ref),
        stateBadge(row, stateOf(row)),
        domainsText(row.domains),
        host?.routes.length ?? '–',
        host && summaryOf(host),
      ];
    }),
  });
}

function stateBadge({ served }: VirtualServiceRow, row: ResourceRow | undefined): Content {
  const state = row ? badge(row.state, TONES[row.state]) : badge('Served', 'good');
  return served.length > 0 ? state : [state, ' ', badge('not served', 'neutral')];
}

function domainsText(domains: readonly string[]): string {
  const shown = domains.slice(0, 3).join(', ');
  return domains.length > 3 ? `${shown} and ${domains.length - 3} more` : shown;
}

/** Returns the names of the policies that any of the routes has. */
function summaryOf(host: VirtualHost): string {
  return [...new Set(host.routes.flatMap((route) => policiesOf(route, host).map(({ name }) => name)))].join(', ');
}

/** One virtual service: where it is served, and its routes with their policies. */
export function virtualServicePage(
  all: readonly VirtualServiceRow[],
  parameters: URLSearchParams,
  stateOf: StateOf,
): PageBody {
  const [namespace, name] = [parameters.get('namespace') ?? '', parameters.get('name') ?? ''];
  const row = all.find(({ ref }) => ref.namespace === namespace && ref.name === name);
  if (!row) throw adminError('ERR_ADMIN_NOT_FOUND', `No virtual service is named ${namespace}/${name}.`);
  const resource = stateOf(row);
  const host = row.served[0]?.host;
  const paged = pagedRows(host?.routes ?? [], parameters);
  return {
    path: PATHS.virtualServices,
    heading: `VirtualService ${namespace}/${name}`,
    content: html`<div id="virtual-service" data-live="change">
<dl class="facts">
<dt>State</dt><dd>${stateBadge(row, resource)}</dd>
<dt>Domains</dt><dd>${row.domains.join(', ') || 'none'}</dd>
<dt>Served by</dt><dd>${row.served.map(({ proxy, listener }) => `${proxy}: ${listener}`).join(', ') || 'no listener'}</dd>
${resource && html`<dt>Resource</dt><dd>${resourceLink(row.key)}</dd>`}
</dl>
<h2>Routes, in order</h2>
${host ? routeTable(paged.rows, host) : html`<p class="empty">This virtual service is not served and has no routes.</p>`}
${host && pager(PATHS.virtualService, paged, parameters)}
</div>`,
  };
}

function routeTable(routes: readonly Route[], host: VirtualHost): Markup {
  return tableOf({
    caption: 'Routes, in order',
    hidesCaption: true,
    columns: ['Matches', 'Destination', { name: 'Policies', isWide: true }, 'Source'],
    empty: 'This virtual service has no routes.',
    rows: routes.map((route) => [
      route.matchers.map((matcher) => html`<code class="matcher">${matcherText(matcher)}</code>`),
      destinationCell(route.action),
      policyList(policiesOf(route, host)),
      `${route.source.kind} ${route.source.namespace}/${route.source.name}`,
    ]),
  });
}

function destinationCell(action: Route['action']): Content {
  if (action.type !== 'forward') return actionText(action);
  const [only] = action.destinations;
  if (action.destinations.length !== 1 || !only || only.dynamic || only.broken || only.subset || only.rest)
    return actionText(action);
  return upstreamLink(only.upstream);
}

function policyList(policies: readonly RoutePolicy[]): Content {
  if (policies.length === 0) return 'none';
  const items = policies.map(
    ({ name, detail, from }) =>
      html`<li>${name}${detail && html` <span>${detail}</span>`}${from === 'virtual host' && html` <small>virtual host</small>`}</li>`,
  );
  return html`<ul class="policies">${items}</ul>`;
}
