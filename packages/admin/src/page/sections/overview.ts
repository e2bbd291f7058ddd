import { httpListenersOf, type CertificateState } from '@edge-gateway/core';
import { recentFailures } from '../connection-failures.ts';
import type { Component } from '../../control/control-options.ts';
import { chartOf } from '../chart.ts';
import { countText, millisecondsText, rateText, shareText } from '../figures.ts';
import { href, html, type Content, type Markup } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { PATHS, upstreamLink } from '../paths.ts';
import { countStates, type ResourceRow } from '../resource-rows.ts';
import { hasTraffic, type StatusSources } from '../sources.ts';
import { ageOf, badge, tableOf, type Tone } from '../table.ts';
import type { Hour } from '../traffic-history.ts';
import type { Traffic } from '../traffic.ts';
import { certificateStates, countCertificateProblems } from './certificate-list.ts';
import { proxyTable } from './proxies.ts';
import { problemTable } from './resources.ts';
import { hourChart, routeTable } from './last-hour.ts';
import { translationTable } from './translations.ts';
import { countHealth, trafficHint } from './upstreams.ts';

/** Number of rows of a list that has a page of its own. */
const FEW = 5;

/** The overview: figures, problems, proxies, the last translations, and links to all other pages of the port. */
export function overviewPage(
  sources: StatusSources,
  { traffic, hour }: { readonly traffic: Traffic; readonly hour: Hour | undefined },
  rows: readonly ResourceRow[],
): PageBody {
  const state = sources.state?.();
  const issues = state?.issues ?? [];
  return {
    path: sources.home,
    heading: 'Overview',
    content: html`<div id="figures" data-live="tick change">
<dl class="figures">${[...(sources.state ? configurationFigures(sources, rows) : proxyFigures(sources)), ...certificateFigure(sources), ...trafficFigures(sources, traffic)]}</dl>
${hasTraffic(sources) ? sparkline(traffic.history()) : trafficHint(sources)}
</div>
${hourSection(sources, hour)}
<div id="overview" data-live="change">
${
  sources.state &&
  html`<section aria-labelledby="problems-heading"><h2 id="problems-heading">Problems</h2>
${state ? problemTable(issues.slice(0, FEW)) : html`<p class="empty">The resources have not been read yet.</p>`}
${issues.length > FEW && html`<p><a href="${PATHS.problems}">All ${issues.length.toLocaleString('en')} problems</a></p>`}</section>`
}
${failureSection(sources)}
<div class="columns">
<section aria-labelledby="components-heading"><h2 id="components-heading">Components</h2>${componentTable(sources.components())}</section>
${
  sources.translations &&
  html`<section aria-labelledby="translations-heading"><h2 id="translations-heading">Translations</h2>
${translationTable(sources.translations().slice(0, FEW), sources.now())}<p><a href="${PATHS.translations}">All translations</a></p></section>`
}
</div>
${
  sources.proxies &&
  html`<section aria-labelledby="proxies-heading"><h2 id="proxies-heading">Proxies</h2>${proxyTable(sources, sources.proxies())}</section>`
}
</div>
<section aria-labelledby="pages-heading"><h2 id="pages-heading">All pages of this port</h2>
<ul class="links">${sources.links.map(({ path, help }) => html`<li><a href="${path}">${path}</a> <span>${help}</span></li>\n`)}</ul></section>`,
  };
}

interface Figure {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  readonly tone?: Tone;
  readonly link?: string;
}

function figure({ name, value, note = '', tone = 'neutral', link }: Figure): Markup {
  const shown = link ? html`<a href="${link}">${value}</a>` : value;
  return html`<div class="${tone}"><dt>${name}</dt><dd>${shown} <small>${note}</small></dd></div>\n`;
}

function configurationFigures(sources: StatusSources, rows: readonly ResourceRow[]): Markup[] {
  const { Rejected: rejected, Warning: warnings } = countStates(rows);
  const services = rows.filter(({ kind }) => kind === 'VirtualService').length;
  const { revision, resources } = sources.state?.() ?? {};
  const created = rows.filter(({ origin }) => origin === undefined).length;
  return [
    figure({
      name: 'Revision',
      value: String(revision ?? '–'),
      note: sources.translations ? 'of the configuration' : '',
    }),
    figure({
      name: 'Resources',
      // As in the table of translations.
      value: count(resources?.size ?? 0),
      note: `${countText(services, 'virtual service')}${created > 0 ? `, ${count(created)} more created by the gateway` : ''}`,
      link: PATHS.resources,
    }),
    figure({
      name: 'Rejected',
      value: count(rejected),
      note: `${count(warnings)} with warnings`,
      tone: rejected > 0 ? 'bad' : warnings > 0 ? 'warning' : 'good',
      link: href(PATHS.resources, { state: rejected > 0 || warnings === 0 ? 'Rejected' : 'Warning' }),
    }),
  ];
}

function proxyFigures({ snapshots }: StatusSources): Markup[] {
  const [snapshot] = snapshots();
  const hosts = httpListenersOf(snapshot?.listeners ?? []).flatMap(({ virtualHosts }) => virtualHosts);
  const services = new Set(hosts.map(({ name }) => name)).size;
  return [
    figure({ name: 'Configuration', value: snapshot?.version.slice(0, 8) || '–', note: snapshot?.proxy ?? '' }),
    figure({
      name: 'Virtual services',
      value: count(services),
      note: `on ${countText(snapshot?.listeners.length ?? 0, 'listener')}`,
      link: PATHS.virtualServices,
    }),
  ];
}

/** Nothing without certificates. */
function certificateFigure(sources: StatusSources): Markup[] {
  const states = certificateStates(sources);
  if (states.length === 0) return [];
  const counted = (...names: readonly CertificateState[]): number =>
    states.filter((each) => names.includes(each)).length;
  const [invalid, expiring] = [counted('expired', 'not yet valid'), counted('expiring')];
  const problems = countCertificateProblems(sources);
  const [note, tone]: [string, Tone] =
    invalid > 0
      ? [`${count(invalid)} not valid`, 'bad']
      : expiring > 0
        ? [`${count(expiring)} expiring soon`, 'warning']
        : problems > 0
          ? [countText(problems, 'problem'), 'warning']
          : ['all valid', 'good'];
  return [figure({ name: 'Certificates', value: count(states.length), note, tone, link: PATHS.certificates })];
}

function trafficFigures(sources: StatusSources, traffic: Traffic): Markup[] {
  if (!hasTraffic(sources)) return [];
  const { unhealthy, failing, unchecked, healthy, ...others } = countHealth(sources);
  const total = unhealthy + failing + unchecked + healthy + others['no hosts'];
  const counted = { unhealthy, failing, unchecked, healthy, ...others };
  const note = Object.entries(counted).flatMap(([name, value]) => (value > 0 ? [`${count(value)} ${name}`] : []));
  const worst = unhealthy > 0 ? 'unhealthy' : failing > 0 ? 'failing' : '';
  const rates = traffic.total();
  const { requests = 0, clientErrors = 0, serverErrors = 0, p50, p99 } = rates ?? {};
  const measuring = rates ? undefined : 'measuring';
  return [
    figure({
      name: 'Upstreams',
      value: count(total),
      note: note.join(', '),
      tone: worst !== '' ? 'bad' : healthy > 0 && unchecked === 0 ? 'good' : 'neutral',
      link: href(PATHS.upstreams, { health: worst }),
    }),
    figure({
      name: 'Requests',
      value: rates ? rateText(requests) : '–',
      note: measuring ?? `per second, ${traffic.active()} active`,
    }),
    figure({
      name: 'Server errors',
      value: rates ? shareText(serverErrors, requests) : '–',
      note: measuring ?? `4xx ${shareText(clientErrors, requests)}`,
      tone: serverErrors > 0 ? 'bad' : 'neutral',
    }),
    figure({ name: 'Latency', value: millisecondsText(p50), note: measuring ?? `p99 ${millisecondsText(p99)}` }),
  ];
}

/** The failures of hosts in the last hour; nothing without any. */
function failureSection(sources: StatusSources): Content {
  const failures = recentFailures(sources);
  if (failures.length === 0) return undefined;
  return html`<section aria-labelledby="failures-heading"><h2 id="failures-heading">Failed connections and timeouts in the last hour</h2>
${tableOf({
  caption: 'Failed connections and timeouts in the last hour',
  hidesCaption: true,
  columns: ['Upstream', 'Host', 'State', 'Last failure', { name: 'Reason', isWide: true }],
  empty: '',
  rows: failures
    .slice(0, FEW)
    .map(({ upstream, host, isOver, isTimeout, at, reason }) => [
      upstreamLink(upstream),
      host,
      isOver
        ? badge(isTimeout ? 'responds again' : 'connected again', 'good')
        : badge(isTimeout ? 'does not respond' : 'connections fail', 'bad'),
      ageOf(at, sources.now()),
      reason,
    ]),
})}${failures.length > FEW && html`<p><a href="${href(PATHS.upstreams, { health: 'failing' })}">All failing upstreams</a></p>`}</section>`;
}

/** The requests per second of the last two minutes. */
function sparkline(history: readonly number[]): Content {
  if (history.length < 2)
    return html`<p class="hint">The chart of requests per second appears after a few seconds of measurement.</p>`;
  const most = rateText(Math.max(...history));
  return chartOf(
    history,
    60,
    `Requests per second in the last two minutes: now ${rateText(history.at(-1)!)}, maximum ${most}`,
  );
}

/** The traffic of the last hour; `undefined` if it is not recorded. */
function hourSection(sources: StatusSources, hour: Hour | undefined): Content {
  if (!hour) return undefined;
  return html`<section aria-labelledby="hour-heading"><h2 id="hour-heading">Last hour</h2>
<div id="hour" data-live="tick change">${hourChart(hour)}
${routeTable(sources, hour, FEW)}</div>
<p><a href="${PATHS.traffic}">All routes and listeners</a></p></section>`;
}

const COMPONENT_TONES: Readonly<Record<Component['state'], Tone>> = {
  ready: 'good',
  starting: 'warning',
  draining: 'warning',
  failed: 'bad',
};

function componentTable(components: readonly Component[]): Markup {
  return tableOf({
    caption: 'Components',
    hidesCaption: true,
    columns: ['Component', 'State', { name: 'Reason', isWide: true }],
    empty: 'No components.',
    rows: components.map(({ name, kind, state, reason = '' }) => [
      [name, name !== kind && html` <small>${kind}</small>`],
      badge(state, COMPONENT_TONES[state]),
      reason,
    ]),
  });
}

function count(value: number): string {
  return value.toLocaleString('en');
}
