import { dig, entries, isWritten, items, text, type StatusObject } from '../resources/objects.ts';
import { virtualServiceStatus } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';
import { nameOf, type Columns } from './columns.ts';
import { actionText } from './destination.ts';

/** The columns of `get virtualservices`: a row per route. */
export const VIRTUAL_SERVICE: Columns = {
  'Virtual Service': nameOf,
  'Display Name': ({ spec }) => text(spec, 'displayName'),
  Domains: (object) =>
    items(object.spec, 'virtualHost', 'domains').map(String).filter(Boolean).join(', ') ||
    (isWritten(object) ? '*' : ''),
  SSL: (object) => (isWritten(object) ? sslCell(object.spec) : ''),
  Status: (object, all) => virtualServiceStatus(object, replacesInvalidRoutes(all)),
  ListenerPlugins: () => '',
  Routes: ({ spec, metadata }) => routeCells(items(spec, 'virtualHost', 'routes'), metadata.namespace),
};

/** The columns of `get routetables`: a row per route. */
export const ROUTE_TABLE: Columns = {
  'Route Table': nameOf,
  Routes: ({ spec, metadata }) => routeCells(items(spec, 'routes'), metadata.namespace),
  Status: (object) => virtualServiceStatus(object, false),
};

function replacesInvalidRoutes(all: readonly StatusObject[]): boolean {
  const settings = all.find(({ kind, metadata }) => kind === 'Settings' && metadata.name === 'default');
  return dig(settings?.spec, 'gw', 'invalidConfigPolicy', 'replaceInvalidRoutes') === true;
}

function sslCell(spec: unknown): string {
  const ssl = dig(spec, 'sslConfig');
  if (!ssl) return 'none';
  if (dig(ssl, 'secretRef')) return 'secret_ref';
  if (dig(ssl, 'sslFiles')) return 'ssl_files';
  return dig(ssl, 'sds') ? 'sds' : 'unknown';
}

const routeCells = (routes: readonly unknown[], namespace: string): string[] =>
  routes.map((route) => routeText(route, namespace));

/** Returns a route as `[<name>: ]<path>[, <path>] -> <destination>`. */
export function routeText(route: unknown, namespace: string): string {
  const name = text(route, 'name');
  const paths = matchersOf(route).map(pathOf).join(', ');
  return `${name && `${name}: `}${paths} -> ${actionText(route, namespace)}`.trimEnd();
}

/** A table below a title, which may be empty. */
export interface TitledTable extends TableData {
  readonly title: string;
}

interface Section {
  readonly title: string;
  /** The member of a route that makes it one of this section. */
  readonly member: string;
  /** The columns that only this section has. */
  readonly columns: Readonly<Record<string, (action: unknown) => string>>;
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Route Action',
    member: 'routeAction',
    columns: { 'Destination Type': (action) => entries(action)[0]?.[0] ?? '' },
  },
  {
    title: 'Redirect Action',
    member: 'redirectAction',
    columns: {
      Path: (action) => text(action, 'pathRedirect') || text(action, 'prefixRewrite'),
      'Response Code': (action) => text(action, 'responseCode') || 'MOVED_PERMANENTLY',
    },
  },
  {
    title: 'Direct Response Action',
    member: 'directResponseAction',
    columns: { Body: (action) => text(action, 'body').trimEnd() },
  },
  {
    title: 'Delegate Action',
    member: 'delegateAction',
    columns: {
      Selector: (action) =>
        entries(action, 'selector', 'labels')
          .map(([key, value]) => `${key}=${String(value)}`)
          .join('\n'),
    },
  },
  { title: 'GraphQL', member: 'graphqlApiRef', columns: {} },
];

const COLUMNS = ['Id', 'Name', 'Matchers', 'Types', 'Verbs', 'Headers', 'Action'];

/** The tables of the routes of one virtual service; no table for an action that no route has. */
export function routeTables(spec: unknown, namespace: string): TitledTable[] {
  const routes = items(spec, 'virtualHost', 'routes');
  return SECTIONS.flatMap(({ title, member, columns }) => {
    const rows = routes.flatMap((route, index) => {
      const action = dig(route, member);
      const own = Object.values(columns).map((cell) => cell(action));
      return action === undefined ? [] : [[String(index + 1), ...routeRow(route, namespace), ...own]];
    });
    return rows.length > 0 ? [{ title, columns: [...COLUMNS, ...Object.keys(columns)], rows }] : [];
  });
}

function routeRow(route: unknown, namespace: string): string[] {
  const matchers = matchersOf(route);
  const each = (cell: (matcher: unknown) => string) => matchers.map(cell).join('\n');
  const headers = matchers.map(headersOf).filter(Boolean).join('\n');
  return [text(route, 'name'), each(pathOf), each(pathType), each(verbsOf), headers, actionText(route, namespace)];
}

/** The matchers of a route; without any, the one that matches every path. */
function matchersOf(route: unknown): readonly unknown[] {
  const written = items(route, 'matchers');
  return written.length > 0 ? written : [{ prefix: '/' }];
}

function pathOf(matcher: unknown): string {
  if (dig(matcher, 'connectMatcher')) return 'CONNECT';
  return text(matcher, 'prefix') || text(matcher, 'exact') || text(matcher, 'regex');
}

function pathType(matcher: unknown): string {
  if (dig(matcher, 'prefix') !== undefined) return 'Path Prefix';
  if (dig(matcher, 'exact') !== undefined) return 'Exact Path';
  return dig(matcher, 'regex') === undefined ? 'Unknown' : 'Regex Path';
}

/** The methods of a matcher; `*` is any. */
const verbsOf = (matcher: unknown): string => items(matcher, 'methods').map(String).join(', ') || '*';

/** The header conditions of a matcher as `name:value`, a line each; `!` in front inverts. */
function headersOf(matcher: unknown): string {
  return items(matcher, 'headers')
    .map((header) => `${dig(header, 'invertMatch') ? '!' : ''}${text(header, 'name')}:${text(header, 'value')}`)
    .join('\n');
}
