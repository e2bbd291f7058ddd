import { clusterName, type Kind } from '@edge-gateway/core';
import { hostLine, type UpstreamHosts } from '../gateway/upstream-hosts.ts';
import { dig, items, text, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import { keyLines, nameOf, tableOf, type Columns } from './columns.ts';
import { GATEWAY, PROXY, matchableGateway } from './gateways.ts';
import { GRAPHQL_API } from './graphql-apis.ts';
import { AUTH_CONFIG, LIMIT_SETS, LIMIT_TREES, hasLimitSets, hasLimitTrees, sharedOptions } from './policies.ts';
import { ROUTE_TABLE, VIRTUAL_SERVICE, type TitledTable } from './routes.ts';
import { UPSTREAM, UPSTREAM_GROUP } from './upstreams.ts';

/** How `get` calls and shows one kind. */
export interface View {
  readonly kind: Kind;
  readonly command: string;
  readonly aliases: readonly string[];
  readonly plural: string;
  /** `all` are the resources of every kind, of which a table may need others. */
  tables(objects: readonly StatusObject[], all: readonly StatusObject[]): readonly TitledTable[];
}

type Names = readonly [plural: string, ...aliases: string[]];

function view(kind: Kind, command: string, [plural, ...aliases]: Names, columns: Columns): View {
  return { kind, command, aliases, plural, tables: (...given) => [{ title: '', ...tableOf(columns, ...given) }] };
}

/** The table of upstreams with a column of their hosts. */
export function upstreamsWithHosts(hosts: UpstreamHosts): View['tables'] {
  const Hosts = ({ metadata, spec }: StatusObject): string[] => {
    const checked = items(spec, 'healthChecks').length > 0 || dig(spec, 'outlierDetection') !== undefined;
    return (hosts.get(clusterName(metadata)) ?? []).map((host) => hostLine(host, { checked, now: Date.now() }));
  };
  return (...given) => [{ title: '', ...tableOf({ ...UPSTREAM, Hosts }, ...given) }];
}

/** The table of groups, separated by `---`. */
function upstreamGroupTables(objects: readonly StatusObject[]): TitledTable[] {
  const { columns, rows } = tableOf(UPSTREAM_GROUP, objects);
  const separated = rows.flatMap((row, i) => (i > 0 && row[0] ? [columns.map(() => '---'), row] : [row]));
  return [{ title: '', columns, rows: separated }];
}

/** The tables of rules as trees and of rules as sets; those with rows, or the first one. */
function rateLimitTables(objects: readonly StatusObject[]): TitledTable[] {
  const trees = tableOf(LIMIT_TREES, objects.filter(hasLimitTrees));
  const sets = tableOf(LIMIT_SETS, objects.filter(hasLimitSets));
  const filled = [trees, sets].filter(({ rows }) => rows.length > 0);
  return (filled.length > 0 ? filled : [trees]).map((table) => ({ title: '', ...table }));
}

/** The names of the values of a Secret or ConfigMap, never a value. */
function valueNames(object: StatusObject): string {
  const names = ['data', 'stringData', 'binaryData'].map((member) => keyLines(object, member));
  return [...new Set(names.filter(Boolean).join('\n').split('\n'))].join('\n');
}

/** The status of a Secret or ConfigMap; in a cluster these kinds have no status. */
const ownStatus = (object: StatusObject): string => (object.status === undefined ? '' : statusCell(object));

const SETTINGS: Columns = {
  Settings: nameOf,
  Set: ({ spec }) => keyLines(spec),
  Status: (object) => statusCell(object),
};
const SECRET: Columns = { Secret: nameOf, Type: (object) => text(object, 'type'), Keys: valueNames, Status: ownStatus };
const CONFIG_MAP: Columns = { 'Config Map': nameOf, Keys: valueNames, Status: ownStatus };

/** The kinds that `get` shows, in the order of its help. */
export const VIEWS: readonly View[] = [
  view('VirtualService', 'virtualservice', ['virtual services', 'vs', 'virtualservices'], VIRTUAL_SERVICE),
  view('RouteTable', 'routetable', ['route tables', 'rt', 'routetables'], ROUTE_TABLE),
  view('Upstream', 'upstream', ['upstreams', 'us', 'u', 'upstreams'], UPSTREAM),
  {
    ...view('UpstreamGroup', 'upstreamgroup', ['upstream groups', 'ug', 'ugs', 'upstreamgroups'], UPSTREAM_GROUP),
    tables: upstreamGroupTables,
  },
  view('Proxy', 'proxy', ['proxies', 'p', 'proxies'], PROXY),
  view('AuthConfig', 'authconfig', ['auth configs', 'ac', 'authconfigs'], AUTH_CONFIG),
  {
    ...view('RateLimitConfig', 'ratelimitconfig', ['rate limit configs', 'rlc', 'ratelimitconfigs'], LIMIT_TREES),
    tables: rateLimitTables,
  },
  view('GraphQLApi', 'graphqlapi', ['GraphQL APIs', 'gql', 'graphqlapis'], GRAPHQL_API),
  view('Gateway', 'gateway', ['gateways', 'gw', 'gateways'], GATEWAY),
  view(
    'MatchableHttpGateway',
    'httpgateway',
    ['HTTP gateways', 'hgw', 'httpgateways'],
    matchableGateway('HTTP Gateway'),
  ),
  view('MatchableTcpGateway', 'tcpgateway', ['TCP gateways', 'tgw', 'tcpgateways'], matchableGateway('TCP Gateway')),
  view(
    'VirtualHostOption',
    'virtualhostoption',
    ['virtual host options', 'vho', 'virtualhostoptions'],
    sharedOptions('Virtual Host Option'),
  ),
  view('RouteOption', 'routeoption', ['route options', 'rto', 'routeoptions'], sharedOptions('Route Option')),
  view(
    'ListenerOption',
    'listeneroption',
    ['listener options', 'lisopts', 'listeneroptions'],
    sharedOptions('Listener Option'),
  ),
  view(
    'HttpListenerOption',
    'httplisteneroption',
    ['HTTP listener options', 'hlisopts', 'httplisteneroptions'],
    sharedOptions('HTTP Listener Option'),
  ),
  view('Settings', 'settings', ['settings', 'st'], SETTINGS),
  view('Secret', 'secret', ['secrets, without their values', 'secrets'], SECRET),
  view('ConfigMap', 'configmap', ['config maps', 'cm', 'configmaps'], CONFIG_MAP),
];
