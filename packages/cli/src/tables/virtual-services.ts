import { dig, isWritten, items, text, type StatusObject } from '../resources/objects.ts';
import { virtualServiceStatus } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';
import { actionText } from './destination.ts';
import { matchersOf, pathOf } from './matchers.ts';

/** One line of ROUTES: `[<name>: ]<path>[, <path>] -> <destination>`. */
export function routeCell(route: unknown, namespace: string): string {
  const name = text(route, 'name');
  const paths = matchersOf(route).map(pathOf).join(', ');
  return `${name && `${name}: `}${paths} -> ${actionText(route, namespace)}`.trimEnd();
}

function sslCell(spec: unknown): string {
  const ssl = dig(spec, 'sslConfig');
  if (!ssl) return 'none';
  if (dig(ssl, 'secretRef')) return 'secret_ref';
  if (dig(ssl, 'sslFiles')) return 'ssl_files';
  return dig(ssl, 'sds') ? 'sds' : 'unknown';
}

function rowsOf(object: StatusObject, replacesInvalidRoutes: boolean): string[][] {
  const { spec, metadata } = object;
  const domains = items(spec, 'virtualHost', 'domains').map(String).filter(Boolean);
  const routes = items(spec, 'virtualHost', 'routes').map((route) => routeCell(route, metadata.namespace));
  const first = [
    metadata.name,
    text(spec, 'displayName'),
    domains.join(', ') || (isWritten(object) ? '*' : ''),
    isWritten(object) ? sslCell(spec) : '',
    virtualServiceStatus(object, replacesInvalidRoutes),
    '',
    routes[0] ?? '',
  ];
  return [first, ...routes.slice(1).map((route) => ['', '', '', '', '', '', route])];
}

/** The table of `get virtualservices`. */
export function virtualServiceTable(objects: readonly StatusObject[], all: readonly StatusObject[] = []): TableData {
  const columns = ['Virtual Service', 'Display Name', 'Domains', 'SSL', 'Status', 'ListenerPlugins', 'Routes'];
  const settings = all.find((object) => object.kind === 'Settings' && object.metadata.name === 'default');
  const replaces = dig(settings?.spec, 'gw', 'invalidConfigPolicy', 'replaceInvalidRoutes') === true;
  return { columns, rows: objects.flatMap((object) => rowsOf(object, replaces)) };
}

/** The table of `get routetables`. */
export function routeTableTable(objects: readonly StatusObject[]): TableData {
  const rows = objects.flatMap((object) => {
    const routes = items(object.spec, 'routes').map((route) => routeCell(route, object.metadata.namespace));
    const first = [object.metadata.name, routes[0] ?? '', virtualServiceStatus(object, false)];
    return [first, ...routes.slice(1).map((route) => ['', route, ''])];
  });
  return { columns: ['Route Table', 'Routes', 'Status'], rows };
}
