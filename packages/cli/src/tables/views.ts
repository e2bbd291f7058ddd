import type { Kind } from '@edge-gateway/core';
import type { StatusObject } from '../resources/objects.ts';
import { authConfigTable } from './auth-configs.ts';
import { gatewayTable, matchableGatewayTable } from './gateways.ts';
import { graphqlApiTable } from './graphql-apis.ts';
import { proxyTable } from './proxies.ts';
import { rateLimitConfigTables } from './rate-limit-configs.ts';
import type { TitledTable } from './routes.ts';
import { configMapTable, secretTable } from './secrets.ts';
import { settingsTable, sharedOptionTable } from './shared-options.ts';
import { upstreamGroupTable, upstreamTable } from './upstreams.ts';
import { routeTableTable, virtualServiceTable } from './virtual-services.ts';
import type { TableData } from '../output/table.ts';

/** How `get` calls and shows one kind. */
export interface View {
  readonly kind: Kind;
  readonly command: string;
  readonly aliases: readonly string[];
  readonly plural: string;
  /** `all` are the resources of every kind, of which a table may need others. */
  tables(objects: readonly StatusObject[], all: readonly StatusObject[]): readonly TitledTable[];
}

/** Creates a view of one table without a title. */
function view(
  kind: Kind,
  command: string,
  [plural, ...aliases]: readonly [plural: string, ...aliases: string[]],
  table: (objects: readonly StatusObject[], all: readonly StatusObject[]) => TableData,
): View {
  return { kind, command, aliases, plural, tables: (...given) => [{ title: '', ...table(...given) }] };
}

/** The kinds that `get` shows, in the order of its help. */
export const VIEWS: readonly View[] = [
  view('VirtualService', 'virtualservice', ['virtual services', 'vs', 'virtualservices'], virtualServiceTable),
  view('RouteTable', 'routetable', ['route tables', 'rt', 'routetables'], routeTableTable),
  view('Upstream', 'upstream', ['upstreams', 'us', 'u', 'upstreams'], upstreamTable),
  view('UpstreamGroup', 'upstreamgroup', ['upstream groups', 'ug', 'ugs', 'upstreamgroups'], upstreamGroupTable),
  view('Proxy', 'proxy', ['proxies', 'p', 'proxies'], proxyTable),
  view('AuthConfig', 'authconfig', ['auth configs', 'ac', 'authconfigs'], authConfigTable),
  {
    kind: 'RateLimitConfig',
    command: 'ratelimitconfig',
    aliases: ['rlc', 'ratelimitconfigs'],
    plural: 'rate limit configs',
    tables: rateLimitConfigTables,
  },
  view('GraphQLApi', 'graphqlapi', ['GraphQL APIs', 'gql', 'graphqlapis'], graphqlApiTable),
  view('Gateway', 'gateway', ['gateways', 'gw', 'gateways'], gatewayTable),
  view('MatchableHttpGateway', 'httpgateway', ['HTTP gateways', 'hgw', 'httpgateways'], (objects) =>
    matchableGatewayTable(objects, 'HTTP Gateway'),
  ),
  view('MatchableTcpGateway', 'tcpgateway', ['TCP gateways', 'tgw', 'tcpgateways'], (objects) =>
    matchableGatewayTable(objects, 'TCP Gateway'),
  ),
  view('VirtualHostOption', 'virtualhostoption', ['virtual host options', 'vho', 'virtualhostoptions'], (objects) =>
    sharedOptionTable(objects, 'Virtual Host Option'),
  ),
  view('RouteOption', 'routeoption', ['route options', 'rto', 'routeoptions'], (objects) =>
    sharedOptionTable(objects, 'Route Option'),
  ),
  view('Settings', 'settings', ['settings', 'st'], settingsTable),
  view('Secret', 'secret', ['secrets, without their values', 'secrets'], secretTable),
  view('ConfigMap', 'configmap', ['config maps', 'cm', 'configmaps'], configMapTable),
];
