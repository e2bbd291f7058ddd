import { href, html, type Content } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { wordsIn } from '../paging.ts';
import { PATHS } from '../paths.ts';
import type { ResourceRow } from '../resource-rows.ts';
import type { StatusSources } from '../sources.ts';
import type { Traffic } from '../traffic.ts';
import type { VirtualServiceRow } from '../virtual-service-rows.ts';
import { problemTable, resourceTable, searchable } from './resources.ts';
import { searchableUpstream, upstreamsOf, upstreamTable } from './upstreams.ts';
import { virtualServiceTable, type StateOf } from './virtual-services.ts';

/** Number of results of a kind. */
const SHOWN = 10;

/** The data to search. */
export interface Searched {
  readonly sources: StatusSources;
  readonly traffic: Traffic;
  readonly resources: readonly ResourceRow[];
  readonly virtualServices: readonly VirtualServiceRow[];
  readonly stateOf: StateOf;
}

/** The results of a search: a few of each kind, with links to the complete lists. */
export function searchPage(searched: Searched, query: string): PageBody {
  const matches = wordsIn(query);
  const { sources, traffic, stateOf } = searched;
  const found = <Row>(rows: readonly Row[], textOf: (row: Row) => string): readonly Row[] =>
    query.trim() === '' ? [] : rows.filter((row) => matches(() => textOf(row)));
  const services = found(searched.virtualServices, (row) => row.text());
  const upstreams = found(upstreamsOf(sources), searchableUpstream);
  const resources = found(searched.resources, ({ text }) => text);
  const problems = found(sources.state?.()?.issues ?? [], searchable);
  const sections = [
    part('Problems', PATHS.problems, problems, (rows) => problemTable(rows)),
    part('Virtual services', PATHS.virtualServices, services, (rows) => virtualServiceTable(rows, stateOf)),
    part('Upstreams', PATHS.upstreams, upstreams, (rows) => upstreamTable(sources, traffic, rows)),
    part('Resources', PATHS.resources, resources, resourceTable),
  ];
  const total = services.length + upstreams.length + resources.length + problems.length;
  function part<Row>(
    name: string,
    path: string,
    rows: readonly Row[],
    show: (rows: readonly Row[]) => Content,
  ): Content {
    if (rows.length === 0) return '';
    const all =
      rows.length > SHOWN &&
      html`<p><a href="${href(path, { q: query })}">All ${rows.length.toLocaleString('en')}</a></p>`;
    return html`<section aria-label="${name}"><h2>${name} (${rows.length.toLocaleString('en')})</h2>${show(rows.slice(0, SHOWN))}${all}</section>\n`;
  }
  return {
    path: PATHS.search,
    heading: query.trim() === '' ? 'Search' : `Search for “${query.trim()}”`,
    query,
    content:
      total === 0
        ? html`<p class="empty">${query.trim() === '' ? 'Enter a search term above.' : 'Nothing matches.'}</p>`
        : sections,
  };
}
