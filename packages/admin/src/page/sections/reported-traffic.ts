import type { ProxyStatus, ProxyTraffic, ReportedRequests, ReportedUpstream } from '@edge-gateway/core';
import { millisecondsText, rateText, shareText } from '../figures.ts';
import { html, type Content } from '../html.ts';
import { PATHS, upstreamLink } from '../paths.ts';
import type { StatusSources } from '../sources.ts';
import { ageOf, badge, tableOf } from '../table.ts';
import { isChecked, upstreamsOf } from './upstreams.ts';

/** Maximum number of rows: upstreams with unhealthy endpoints come first, then those with the most requests. */
const MAX_ROWS = 100;

const number = (name: string) => ({ name, isNumber: true as const });

/** Columns of the traffic of one proxy. */
export const TRAFFIC_COLUMNS = [number('Requests/s'), number('5xx'), number('p50'), number('p99'), 'Endpoints'];

/** Returns the cells of the last report of a proxy. */
export function trafficCells({ address, traffic }: ProxyStatus, now: number): readonly Content[] {
  if (isHere(address)) return ['–', '–', '–', '–', html`see <a href="${PATHS.upstreams}">Upstreams</a>`];
  if (!traffic) return ['–', '–', '–', '–', 'no report'];
  if (traffic.isStale) {
    const reported = ageOf(Date.parse(traffic.reportedAt), now);
    return ['–', '–', '–', '–', html`${badge('stale', 'warning')} reported ${reported}`];
  }
  const { total, seconds, upstreams } = traffic;
  const unhealthy = upstreams.reduce((sum, each) => sum + each.unhealthy, 0);
  const isDown = upstreams.some((each) => each.unhealthy > 0 && each.healthy === 0);
  return [
    rateText(total.requests / seconds),
    shareText(total.serverErrors, total.requests),
    millisecondsText(total.p50),
    millisecondsText(total.p99),
    unhealthy === 0 ? badge('none unhealthy', 'good') : badge(`${unhealthy} unhealthy`, isDown ? 'bad' : 'warning'),
  ];
}

/** Returns true for the proxy of the process that shows the page, whose own pages show its traffic. */
const isHere = (address: string): boolean => address === 'in process';

/** Renders the traffic that all remote proxies report, by listener and by upstream. Reports that are stale do not count. */
export function reportedTraffic(sources: StatusSources, proxies: readonly ProxyStatus[]): Content {
  if (proxies.every(({ address }) => isHere(address))) return undefined;
  const reports = proxies.flatMap(({ traffic }) => (traffic && !traffic.isStale ? [traffic] : []));
  const listeners = sumsOf(reports, ({ listeners: list }) => list);
  const checked = new Set(upstreamsOf(sources).flatMap((each) => (isChecked(each) ? [each.name] : [])));
  const upstreams = sumsOf(reports, ({ upstreams: list }) => list);
  return html`<h2>Traffic by listener</h2>
${tableOf({
  caption: 'Traffic by listener',
  hidesCaption: true,
  columns: ['Listener', number('Requests/s'), number('4xx'), number('5xx')],
  empty: 'No proxy has reported any requests.',
  rows: listeners.map(({ name, rate, requests, clientErrors, serverErrors }) => [
    name,
    rateText(rate),
    shareText(clientErrors, requests),
    shareText(serverErrors, requests),
  ]),
})}
<h2>Traffic and health by upstream</h2>
${tableOf({
  caption: 'Traffic and health by upstream',
  hidesCaption: true,
  columns: ['Upstream', number('Proxies'), number('Requests/s'), number('5xx'), number('Highest p99'), 'Endpoints'],
  empty: 'No proxy has reported any upstream.',
  rows: upstreams.map((each) => [
    upstreamLink(each.name),
    each.proxies.toLocaleString('en'),
    rateText(each.rate),
    shareText(each.serverErrors, each.requests),
    millisecondsText(each.p99),
    healthCell(each, checked.has(each.name)),
  ]),
})}`;
}

interface Sum {
  readonly name: string;
  proxies: number;
  rate: number;
  requests: number;
  clientErrors: number;
  serverErrors: number;
  /** The highest that a proxy reports. */
  p99: number | undefined;
  /** The smallest number that a proxy reports; `unhealthy` is the largest. */
  healthy: number;
  unhealthy: number;
}

function sumsOf(
  reports: readonly ProxyTraffic[],
  listOf: (report: ProxyTraffic) => readonly (ReportedRequests & Partial<ReportedUpstream>)[],
): readonly Sum[] {
  const sums = new Map<string, Sum>();
  for (const report of reports) {
    for (const { name, requests, clientErrors, serverErrors, p99, healthy = 0, unhealthy = 0 } of listOf(report)) {
      const known = sums.get(name);
      const sum = known ?? { ...NOTHING, name, healthy };
      sum.proxies++;
      sum.rate += requests / report.seconds;
      sum.requests += requests;
      sum.clientErrors += clientErrors;
      sum.serverErrors += serverErrors;
      if (p99 !== undefined) sum.p99 = Math.max(sum.p99 ?? 0, p99);
      sum.healthy = Math.min(sum.healthy, healthy);
      sum.unhealthy = Math.max(sum.unhealthy, unhealthy);
      if (!known) sums.set(name, sum);
    }
  }
  const order = (a: Sum, b: Sum): number =>
    Number(b.unhealthy > 0) - Number(a.unhealthy > 0) || b.rate - a.rate || (a.name < b.name ? -1 : 1);
  return [...sums.values()].sort(order).slice(0, MAX_ROWS);
}

const NOTHING = {
  proxies: 0,
  rate: 0,
  requests: 0,
  clientErrors: 0,
  serverErrors: 0,
  p99: undefined as number | undefined,
  healthy: 0,
  unhealthy: 0,
};

function healthCell({ healthy, unhealthy }: Sum, checked: boolean): Content {
  if (healthy + unhealthy === 0) return badge('no hosts', 'neutral');
  if (unhealthy === 0 && !checked) return badge(`${healthy} unchecked`, 'neutral');
  if (unhealthy === 0) return badge(`${healthy} healthy`, 'good');
  return badge(`${unhealthy} unhealthy, ${healthy} healthy`, healthy === 0 ? 'bad' : 'warning');
}
