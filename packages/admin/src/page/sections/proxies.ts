import { formatOrigin, type ProxyStatus } from '@edge-gateway/core';
import { html, type Content, type Markup } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { PATHS } from '../paths.ts';
import type { StatusSources } from '../sources.ts';
import { ageOf, badge, tableOf } from '../table.ts';
import { reportedTraffic, TRAFFIC_COLUMNS, trafficCells } from './reported-traffic.ts';

/** The connected proxies, and what they rejected. */
export function proxiesPage(sources: StatusSources): PageBody {
  const proxies = sources.proxies?.() ?? [];
  const rejected = proxies.flatMap(({ nack, ...proxy }) => (nack ? { ...proxy, nack } : []));
  return {
    path: PATHS.proxies,
    heading: 'Proxies',
    content: html`<div id="proxies" data-live="tick change">
${proxyTable(sources, proxies)}
${reportedTraffic(sources, proxies)}
<h2>Rejected configuration</h2>
${tableOf({
  caption: 'Rejected configuration',
  hidesCaption: true,
  columns: ['Process', 'Proxy', 'Type', 'Part', { name: 'Reason', isWide: true }, 'Written in'],
  empty: 'No proxy has rejected any configuration.',
  rows: rejected.map(({ node, proxy, nack }) => [
    node,
    proxy,
    nack.type.replace(/^.*\//, ''),
    nack.resource,
    nack.field ? `${nack.field}: ${nack.message}` : nack.message,
    nack.origin ? html`<code>${formatOrigin(nack.origin)}</code>` : '–',
  ]),
})}
</div>`,
  };
}

/** Renders the connected proxies as a table. */
export function proxyTable(sources: StatusSources, proxies: readonly ProxyStatus[]): Markup {
  const now = sources.now();
  const age = (time: string): Markup => ageOf(Date.parse(time), now);
  return tableOf({
    caption: 'Proxies',
    hidesCaption: true,
    columns: ['Process', 'Proxy', 'Address', 'State', ...TRAFFIC_COLUMNS, 'Version in use', 'Accepted', 'Connected'],
    empty: 'No proxy is connected.',
    rows: proxies.map((status) => [
      status.node,
      status.proxy,
      status.address,
      stateOf(status),
      ...trafficCells(status, now),
      status.version === '' ? '–' : html`<code>${status.version}</code>`,
      status.lastAck === undefined ? '–' : age(status.lastAck),
      age(status.connectedSince),
    ]),
  });
}

function stateOf({ nack, version, current }: ProxyStatus): Content {
  if (nack) return badge('rejected', 'bad');
  if (version === '') return badge('waiting', 'neutral');
  return current ? badge('up to date', 'good') : badge('older version', 'warning');
}
