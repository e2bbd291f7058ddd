import type { Route, Snapshot, VirtualHost } from '@edge-gateway/core';
import { chartOf } from '../chart.ts';
import { countText, millisecondsText, shareText } from '../figures.ts';
import { html, type Content, type Markup } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { PATHS, virtualServiceLink } from '../paths.ts';
import { matcherText } from '../route-text.ts';
import type { StatusSources } from '../sources.ts';
import { tableOf } from '../table.ts';
import type { Hour, Requests } from '../traffic-history.ts';

/** The minutes of the chart: those that are over, and the current one. */
const MINUTES = 61;

/** The traffic of the last hour, by listener and by route. */
export function trafficPage(sources: StatusSources, hour: Hour): PageBody {
  return {
    path: PATHS.traffic,
    heading: 'Traffic in the last hour',
    content: html`<div id="traffic" data-live="tick change">${hourChart(hour)}
<h2>By route</h2>
${routeTable(sources, hour)}
<h2>By listener</h2>
${requestTable(
  'Listener',
  byRequests(hour.listeners).map(([name, requests]) => [[name], requests]),
)}
</div>`,
  };
}

/** Renders the requests per minute of the last hour, with errors and latency. */
export function hourChart({ total, minutes }: Hour): Markup {
  const { requests, clientErrors, serverErrors, p50, p99 } = total;
  const most = Math.max(...minutes.map((each) => each.requests));
  const latency = `median ${millisecondsText(p50)}, p99 ${millisecondsText(p99)}`;
  const errors = `4xx ${shareText(clientErrors, requests)}, 5xx ${shareText(serverErrors, requests)}`;
  const caption = `${countText(requests, 'request')} in the last hour, at most ${most.toLocaleString('en')} per minute; ${errors}; ${latency}`;
  return chartOf(
    minutes.map((each) => each.requests),
    MINUTES,
    caption,
  );
}

/** Renders the routes with the most requests, at most `limit`. */
export function routeTable({ snapshots }: StatusSources, { routes }: Hour, limit = Infinity): Markup {
  const found = byRequests(routes).slice(0, limit);
  const known = routesNamed(new Set(found.map(([name]) => name)), snapshots());
  return requestTable(
    'Route',
    found.map(([name, requests]) => [routeCells(name, known.get(name)), requests]),
  );
}

function routeCells(name: string, found: readonly [VirtualHost, Route] | undefined): readonly Content[] {
  // It was removed within the hour.
  if (!found) return [name, ''];
  const [host, { matchers }] = found;
  return [
    virtualServiceLink(host.virtualService),
    matchers.map((matcher) => html`<code class="matcher">${matcherText(matcher)}</code>`),
  ];
}

function requestTable(what: 'Route' | 'Listener', rows: readonly [readonly Content[], Requests][]): Markup {
  const number = (name: string) => ({ name, isNumber: true as const });
  const isByRoute = what === 'Route';
  const columns = isByRoute ? ['Virtual service', 'Route'] : ['Listener'];
  return tableOf({
    caption: `Requests in the last hour by ${what.toLowerCase()}`,
    hidesCaption: true,
    columns: [...columns, ...['Requests', '4xx', '5xx', ...(isByRoute ? ['Average time'] : [])].map(number)],
    empty: 'No requests in the last hour.',
    rows: rows.map(([cells, { requests, clientErrors, serverErrors, timeUs }]) => [
      ...cells,
      requests.toLocaleString('en'),
      shareText(clientErrors, requests),
      shareText(serverErrors, requests),
      ...(isByRoute ? [millisecondsText(timeUs / 1000 / requests)] : []),
    ]),
  });
}

function byRequests(counts: ReadonlyMap<string, Requests>): [string, Requests][] {
  return [...counts].sort(([a, { requests }], [b, { requests: others }]) => others - requests || (a < b ? -1 : 1));
}

function routesNamed(
  names: ReadonlySet<string>,
  snapshots: readonly Snapshot[],
): ReadonlyMap<string, readonly [VirtualHost, Route]> {
  const found = new Map<string, readonly [VirtualHost, Route]>();
  if (names.size === 0) return found;
  const listeners = snapshots.flatMap((each) => each.listeners);
  for (const host of listeners.flatMap(({ virtualHosts }) => virtualHosts))
    for (const route of host.routes) if (names.has(route.name)) found.set(route.name, [host, route]);
  return found;
}
