import { clusterName, keyOf, type HostState, type Metrics, type SnapshotUpstream } from '@edge-gateway/core';
import { adminError } from '../../error-codes.ts';
import { addressAndPort } from '../../http/address.ts';
import { html, type Content, type Markup } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { filterForm, pagedRows, pager, wordsIn } from '../paging.ts';
import { PATHS, resourceLink, upstreamLink } from '../paths.ts';
import { countText, millisecondsText, rateText, shareText } from '../figures.ts';
import { failingUpstreams } from '../connection-failures.ts';
import { hasTraffic, type StatusSources } from '../sources.ts';
import { ageOf, badge, tableOf } from '../table.ts';
import type { Traffic } from '../traffic.ts';

/** How many hosts of an upstream are healthy. */
export interface Membership {
  readonly healthy: number;
  readonly total: number;
}

const HEALTH = ['unhealthy', 'failing', 'unchecked', 'healthy', 'no hosts'] as const;

/** The health of an upstream. Without health checks and outlier detection it is unchecked, or failing if it cannot be connected. */
export type UpstreamHealth = (typeof HEALTH)[number];

/** Returns the hosts of each upstream that has statistics, by its name. */
export function membershipsOf(metrics: Metrics): ReadonlyMap<string, Membership> {
  const families = metrics.families();
  const read = (family: string): Map<string, number> => {
    const values = new Map<string, number>();
    for (const { name, type, stat } of families.get(family) ?? [])
      if (type !== 'histogram') values.set(name.labels?.['envoy_cluster_name'] ?? '', stat.value);
    return values;
  };
  const healthy = read('envoy_cluster_membership_healthy');
  const totals = [...read('envoy_cluster_membership_total')];
  return new Map(totals.map(([name, total]) => [name, { total, healthy: healthy.get(name) ?? 0 }]));
}

/** Returns every upstream of all proxies once, sorted by name. */
export function upstreamsOf({ snapshots }: StatusSources): readonly SnapshotUpstream[] {
  const [first, ...others] = snapshots();
  if (others.length === 0) return first?.upstreams ?? [];
  const byName = new Map([first!, ...others].flatMap(({ upstreams }) => upstreams.map((each) => [each.name, each])));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The upstreams with health and traffic. */
export function upstreamsPage(sources: StatusSources, traffic: Traffic, parameters: URLSearchParams): PageBody {
  const memberships = membershipsOf(sources.metrics);
  const failures = failingUpstreams(sources);
  const [matches, health] = [wordsIn(parameters.get('q')), parameters.get('health')];
  const found = upstreamsOf(sources).filter(
    (each) =>
      (!health || healthOf(each, memberships.get(each.name), failures.has(each.name)) === health) &&
      matches(() => searchableUpstream(each)),
  );
  const paged = pagedRows(found, parameters);
  const filters = [
    { name: 'q', label: 'Name or address' },
    ...(hasTraffic(sources) ? [{ name: 'health', label: 'Health', values: HEALTH }] : []),
  ];
  return {
    path: PATHS.upstreams,
    heading: 'Upstreams',
    query: parameters.get('q') ?? '',
    content: html`${filterForm(PATHS.upstreams, filters, parameters)}
${trafficHint(sources)}
<div id="upstreams" data-live="tick change">${upstreamTable(sources, traffic, paged.rows)}${pager(PATHS.upstreams, paged, parameters)}</div>`,
  };
}

/** Renders where health and traffic are if other processes have them. */
export function trafficHint(sources: StatusSources): Content {
  if (hasTraffic(sources)) return undefined;
  return html`<p class="hint"><a href="${PATHS.proxies}">Proxies</a> shows the health and traffic that proxies report. Each proxy shows all of it on its own status page: <code>/status</code> of its admin port (by default <code>http://127.0.0.1:19000/status</code> on its host).</p>`;
}

/** Returns the searchable text of an upstream, in lower case. */
export function searchableUpstream({ name, ref, endpoints }: SnapshotUpstream): string {
  const addresses = endpoints.map(({ address, port, hostname = '' }) => `${addressAndPort(address, port)} ${hostname}`);
  return [name, `${ref.namespace}/${ref.name}`, ...addresses].join(' ').toLowerCase();
}

/** Renders upstreams as a table. */
export function upstreamTable(sources: StatusSources, traffic: Traffic, rows: readonly SnapshotUpstream[]): Markup {
  const memberships = membershipsOf(sources.metrics);
  const failing = failingUpstreams(sources);
  const number = (name: string) => ({ name, isNumber: true as const });
  const figures = ['Requests/s', '5xx', 'p50', 'p99'].map(number);
  return tableOf({
    caption: 'Upstreams',
    hidesCaption: true,
    columns: ['Upstream', 'Type', 'Hosts', 'TLS', ...(hasTraffic(sources) ? figures : [])],
    empty: 'No upstream matches.',
    rows: rows.map((each) => {
      const cells = [
        upstreamLink(each.name),
        typeOf(each),
        hostsCell(each, memberships.get(each.name), failing.has(each.name)),
        each.tls ? 'yes' : 'no',
      ];
      if (!hasTraffic(sources)) return cells;
      const rates = traffic.upstream(each.name);
      if (!rates) return [...cells, '–', '–', '–', '–'];
      const { requests, serverErrors, p50, p99 } = rates;
      return [
        ...cells,
        rateText(requests),
        shareText(serverErrors, requests),
        millisecondsText(p50),
        millisecondsText(p99),
      ];
    }),
  });
}

/** Returns true if the health of the hosts of an upstream is checked, actively or by the outcomes of requests. */
export function isChecked({ spec: { healthChecks = [], outlierDetection } }: SnapshotUpstream): boolean {
  return healthChecks.length > 0 || outlierDetection !== undefined;
}

function healthOf(upstream: SnapshotUpstream, membership: Membership | undefined, isFailing: boolean): UpstreamHealth {
  if (!membership || membership.total === 0) return 'no hosts';
  if (membership.healthy < membership.total) return 'unhealthy';
  if (isFailing) return 'failing';
  return isChecked(upstream) ? 'healthy' : 'unchecked';
}

/** Returns how many upstreams are in each state of health. */
export function countHealth(sources: StatusSources): Readonly<Record<UpstreamHealth, number>> {
  const memberships = membershipsOf(sources.metrics);
  const failing = failingUpstreams(sources);
  const counts = Object.fromEntries(HEALTH.map((each) => [each, 0])) as Record<UpstreamHealth, number>;
  for (const each of upstreamsOf(sources)) counts[healthOf(each, memberships.get(each.name), failing.has(each.name))]++;
  return counts;
}

function hostsCell(upstream: SnapshotUpstream, membership: Membership | undefined, isFailing: boolean): Content {
  if (!membership) return `${upstream.endpoints.length} declared`;
  const { healthy, total } = membership;
  const health = healthOf(upstream, membership, isFailing);
  if (health === 'no hosts') return badge(health, 'neutral');
  if (health === 'unchecked') return badge(`${countText(total, 'host')}, unchecked`, 'neutral');
  if (health === 'failing') return badge(health, 'bad');
  const tone = healthy === total ? 'good' : healthy === 0 ? 'bad' : 'warning';
  return badge(`${healthy} of ${total} healthy`, tone);
}

const TYPES = ['static', 'kube', 'consul', 'aws', 'awsEc2', 'azure', 'gcp', 'pipe'] as const;

function typeOf({ spec }: SnapshotUpstream): string {
  return TYPES.find((type) => (spec as Readonly<Record<string, unknown>>)[type] !== undefined) ?? 'other';
}

/** One upstream with its hosts. */
export function upstreamPage(sources: StatusSources, traffic: Traffic, parameters: URLSearchParams): PageBody {
  const name = parameters.get('name') ?? '';
  const upstream = upstreamsOf(sources).find((each) => each.name === name);
  if (!upstream) throw adminError('ERR_ADMIN_NOT_FOUND', `No upstream is named ${name}.`);
  const key = keyOf('Upstream', upstream.ref);
  const hosts = sources.hostStates?.(name);
  const paged = pagedRows<HostState | SnapshotUpstream['endpoints'][number]>(hosts ?? upstream.endpoints, parameters);
  return {
    path: PATHS.upstreams,
    heading: `Upstream ${clusterName(upstream.ref)}`,
    content: html`<div id="upstream" data-live="tick change">
${upstreamTable(sources, traffic, [upstream])}
${sources.state?.()?.resources.has(key) && html`<p>Resource: ${resourceLink(key)}</p>`}
<h2>Hosts</h2>
${trafficHint(sources)}
${hosts ? hostTable(paged.rows as readonly HostState[], isChecked(upstream), sources.now()) : endpointTable(paged.rows as SnapshotUpstream['endpoints'])}
${pager(PATHS.upstream, paged, parameters)}
</div>`,
  };
}

const number = (name: string) => ({ name, isNumber: true as const });

function hostTable(hosts: readonly HostState[], checked: boolean, now: number): Markup {
  const counters = ['Active', 'Requests', 'Errors', 'Failed connections'].map(number);
  return tableOf({
    caption: 'Hosts',
    hidesCaption: true,
    columns: ['Host', 'Health', 'Name', number('Priority'), number('Weight'), ...counters, 'Last failure'],
    empty: 'This upstream has no hosts.',
    rows: hosts.map(
      ({
        address,
        port,
        healthFlags,
        hostname,
        priority,
        weight,
        lastFailure,
        counters: { rq_active, rq_total, rq_error, cx_connect_fail },
      }) => [
        addressAndPort(address, port),
        hostHealth(healthFlags, checked, lastFailure),
        hostname === address ? '' : hostname,
        priority,
        weight,
        rq_active,
        rq_total,
        rq_error,
        cx_connect_fail,
        lastFailure && [ageOf(lastFailure.at, now), html` <small>${lastFailure.reason}</small>`],
      ],
    ),
  });
}

function hostHealth(flags: HostState['healthFlags'], checked: boolean, failure: HostState['lastFailure']): Markup {
  if (flags.length > 0) return badge(flags.join(', ').replaceAll('_', ' '), 'bad');
  if (failure && !failure.isOver) return badge(failure.isTimeout ? 'does not respond' : 'connections fail', 'bad');
  return checked ? badge('healthy', 'good') : badge('unchecked', 'neutral');
}

function endpointTable(endpoints: SnapshotUpstream['endpoints']): Markup {
  return tableOf({
    caption: 'Declared hosts',
    hidesCaption: true,
    columns: ['Host', 'Name', number('Priority'), number('Weight')],
    empty: 'This upstream declares no hosts.',
    rows: endpoints.map(({ address, port, hostname = '', priority = 0, weight }) => [
      addressAndPort(address, port),
      hostname,
      priority,
      weight,
    ]),
  });
}
