import { GatewayError, isNavigation, signsOf } from '@edge-gateway/core';
import type { Request } from 'express';
import { adminError } from '../error-codes.ts';
import type { EndpointResponse } from '../http/endpoint-response.ts';
import { isSignedIn } from '../http/access.ts';
import type { AdminToken } from '../http/admin-token.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { scriptEndpoint, styleEndpoint } from './asset-endpoints.ts';
import { failedUpstreams } from './connection-failures.ts';
import { countText } from './figures.ts';
import { html } from './html.ts';
import { pageOf, type Framed, type NavigationItem, type PageBody } from './layout.ts';
import { createLiveEvents } from './live.ts';
import { memo } from './memo.ts';
import { PATHS } from './paths.ts';
import { resourceRows, type ResourceRow } from './resource-rows.ts';
import { certificatesPage } from './sections/certificate-list.ts';
import { explainPage } from './sections/explain.ts';
import { logPage } from './sections/log.ts';
import { overviewPage } from './sections/overview.ts';
import { proxiesPage } from './sections/proxies.ts';
import { problemsPage, resourcePage, resourcesPage } from './sections/resources.ts';
import { searchPage } from './sections/search.ts';
import { trafficPage } from './sections/last-hour.ts';
import { translationsPage } from './sections/translations.ts';
import { upstreamPage, upstreamsPage } from './sections/upstreams.ts';
import { virtualServicePage, virtualServicesPage } from './sections/virtual-services.ts';
import type { StatusSources } from './sources.ts';
import { createTraffic } from './traffic.ts';
import { virtualServiceRows, type VirtualServiceRow } from './virtual-service-rows.ts';

/** Creates the content of a page from the parameters of its query or form. */
type Page = (parameters: URLSearchParams) => PageBody | Promise<PageBody>;

/** Returns the status page of a port: the overview, and the pages below `/status`. */
export function statusPages(sources: StatusSources, framed: Framed): Endpoint[] {
  const { home, metrics, history, recent, refresh, explain, state: stateNow } = sources;
  const traffic = createTraffic(metrics, refresh && (() => refresh('stats')), sources.now);
  const rowsOf = memo(resourceRows);
  const statesOf = memo((rows: readonly ResourceRow[]) => new Map(rows.map((row) => [row.key, row])));
  const servicesOf = memo(virtualServiceRows);
  const resources = (): readonly ResourceRow[] => {
    const state = stateNow?.();
    return state ? rowsOf(state) : NO_ROWS;
  };
  const services = (): readonly VirtualServiceRow[] => servicesOf(stateNow?.(), ...sources.snapshots());
  const stateOf = ({ key }: VirtualServiceRow): ResourceRow | undefined => statesOf(resources()).get(key);
  const proxies = (): string[] => sources.snapshots().map(({ proxy }) => proxy);

  const page = (paths: Endpoint['paths'], help: string, show: Page): Endpoint => ({
    paths,
    help,
    respond: async (parameters, req) => {
      await traffic.sample();
      try {
        return framed(req, await show(parameters));
      } catch (error) {
        if (error instanceof GatewayError && error.status < 500) return framed(req, errorPage(paths[0], error));
        throw error;
      }
    },
  });
  const upToDate = async (): Promise<void> => refresh?.('hosts');
  /** Lists show hosts only if connections failed. */
  const failuresUpToDate = async (): Promise<void> => {
    if (failedUpstreams(metrics).length > 0) await upToDate();
  };
  const live = createLiveEvents({
    version: () => `${stateNow?.()?.revision} ${sources.snapshots().map(({ version }) => version)}`,
    describe: () => describeChange(sources),
    sample: traffic.sample,
  });
  return [
    page(home === '/' ? ['/', '/status'] : ['/status'], 'the status page', async () => {
      await failuresUpToDate();
      return overviewPage(sources, { traffic, hour: await history?.hour() }, resources());
    }),
    page([PATHS.virtualServices], 'virtual services', (parameters) =>
      virtualServicesPage(services(), parameters, stateOf),
    ),
    page([PATHS.virtualService], 'one virtual service', (parameters) =>
      virtualServicePage(services(), parameters, stateOf),
    ),
    page([PATHS.upstreams], 'upstreams', async (parameters) => {
      await failuresUpToDate();
      return upstreamsPage(sources, traffic, parameters);
    }),
    page([PATHS.upstream], 'one upstream', async (parameters) => {
      await upToDate();
      return upstreamPage(sources, traffic, parameters);
    }),
    page([PATHS.search], 'search', async (parameters) => {
      await failuresUpToDate();
      const searched = { sources, traffic, resources: resources(), virtualServices: services(), stateOf };
      return searchPage(searched, parameters.get('q') ?? '');
    }),
    ...(stateNow
      ? [
          page([PATHS.resources], 'resources', (parameters) => resourcesPage(resources(), parameters)),
          page([PATHS.problems], 'problems', (parameters) => problemsPage(stateNow(), parameters)),
          page([PATHS.resource], 'one resource', (parameters) => {
            const state = stateNow();
            if (!state) throw adminError('ERR_ADMIN_NOT_FOUND');
            return resourcePage(state, resources(), parameters);
          }),
        ]
      : []),
    ...(history
      ? [page([PATHS.traffic], 'traffic of the last hour', async () => trafficPage(sources, await history.hour()))]
      : []),
    page([PATHS.certificates], 'certificates', (parameters) => certificatesPage(sources, parameters)),
    ...(sources.proxies ? [page([PATHS.proxies], 'proxies', () => proxiesPage(sources))] : []),
    ...(sources.translations ? [page([PATHS.translations], 'translations', () => translationsPage(sources))] : []),
    ...(recent ? [page([PATHS.log], 'log', (parameters) => logPage(recent, parameters))] : []),
    ...(explain
      ? [explainEndpoint(page([PATHS.explain], 'explain', (form) => explainPage(explain, form, proxies())))]
      : []),
    { paths: [PATHS.events], help: 'events of the status page', respond: () => live.respond() },
    styleEndpoint,
    scriptEndpoint,
  ];
}

/**
 * Returns the page for an unknown path of the status page; `undefined` for requests of programs, and for paths that do not belong to the
 * status page.
 */
export function unknownPage({ home }: StatusSources, framed: Framed): (req: Request) => EndpointResponse | undefined {
  return (req) => {
    const belongs = home === '/' || req.path.startsWith('/status/');
    if (!belongs || req.method === 'POST' || !isNavigation(signsOf(req))) return undefined;
    const error = adminError('ERR_ADMIN_NOT_FOUND', `This port has no page ${req.path}.`);
    return framed(req, errorPage('', error));
  };
}

/** Returns what puts the pages of a port into their frame, with a link to sign out for browsers that signed in. */
export function framePages(sources: Omit<StatusSources, 'links'>, token: AdminToken | undefined): Framed {
  const { title, version } = sources;
  const navigation = navigationOf(sources);
  return (req, page) => pageOf({ title, version, navigation, canSignOut: isSignedIn(req, token) }, page);
}

function errorPage(path: string, { status, message }: GatewayError): PageBody {
  return { path, status, heading: 'Not found', content: html`<p class="error" role="alert">${message}</p>` };
}

const NO_ROWS: readonly ResourceRow[] = [];

/** The form uses POST, because URLs with credentials would appear in browser histories and logs. */
function explainEndpoint(endpoint: Endpoint): Endpoint {
  return { ...endpoint, readsForms: true };
}

function navigationOf({
  home,
  state,
  history,
  translations,
  proxies,
  explain,
  recent,
  furtherPages = [],
}: Omit<StatusSources, 'links'>): NavigationItem[] {
  return [
    { path: home, name: 'Overview' },
    ...(state
      ? [
          { path: PATHS.resources, name: 'Resources' },
          { path: PATHS.problems, name: 'Problems' },
        ]
      : []),
    { path: PATHS.virtualServices, name: 'Virtual services' },
    { path: PATHS.upstreams, name: 'Upstreams' },
    ...(history ? [{ path: PATHS.traffic, name: 'Traffic' }] : []),
    { path: PATHS.certificates, name: 'Certificates' },
    ...(proxies ? [{ path: PATHS.proxies, name: 'Proxies' }] : []),
    ...(translations ? [{ path: PATHS.translations, name: 'Translations' }] : []),
    ...(recent ? [{ path: PATHS.log, name: 'Log' }] : []),
    ...(explain ? [{ path: PATHS.explain, name: 'Explain' }] : []),
    ...furtherPages,
  ];
}

function describeChange({ state, snapshots }: StatusSources): string {
  const current = state?.();
  if (!current) return `New configuration ${snapshots()[0]?.version ?? ''}`;
  const { revision, issues } = current;
  return `Revision ${revision} of the configuration, ${countText(issues.length, 'problem')}`;
}
