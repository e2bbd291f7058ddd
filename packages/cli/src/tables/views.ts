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

const untitled = (table: TableData): TitledTable[] => [{ title: '', ...table }];

/** The kinds that `get` shows, in the order of its help. */
export const VIEWS: readonly View[] = [
  {
    kind: 'VirtualService',
    command: 'virtualservice',
    aliases: ['vs', 'virtualservices'],
    plural: 'virtual services',
    tables: (objects, all) => untitled(virtualServiceTable(objects, all)),
  },
  {
    kind: 'RouteTable',
    command: 'routetable',
    aliases: ['rt', 'routetables'],
    plural: 'route tables',
    tables: (objects) => untitled(routeTableTable(objects)),
  },
  {
    kind: 'Upstream',
    command: 'upstream',
    aliases: ['us', 'u', 'upstreams'],
    plural: 'upstreams',
    tables: (objects) => untitled(upstreamTable(objects)),
  },
  {
    kind: 'UpstreamGroup',
    command: 'upstreamgroup',
    aliases: ['ug', 'ugs', 'upstreamgroups'],
    plural: 'upstream groups',
    tables: (objects) => untitled(upstreamGroupTable(objects)),
  },
  {
    kind: 'Proxy',
    command: 'proxy',
    aliases: ['p', 'proxies'],
    plural: 'proxies',
    tables: (objects) => untitled(proxyTable(objects)),
  },
  {
    kind: 'AuthConfig',
    command: 'authconfig',
    aliases: ['ac', 'authconfigs'],
    plural: 'auth configs',
    tables: (objects) => untitled(authConfigTable(objects)),
  },
  {
    kind: 'RateLimitConfig',
    command: 'ratelimitconfig',
    aliases: ['rlc', 'ratelimitconfigs'],
    plural: 'rate limit configs',
    tables: (objects) => rateLimitConfigTables(objects),
  },
  {
    kind: 'GraphQLApi',
    command: 'graphqlapi',
    aliases: ['gql', 'graphqlapis'],
    plural: 'GraphQL APIs',
    tables: (objects) => untitled(graphqlApiTable(objects)),
  },
  {
    kind: 'Gateway',
    command: 'gateway',
    aliases: ['gw', 'gateways'],
    plural: 'gateways',
    tables: (objects) => untitled(gatewayTable(objects)),
  },
  {
    kind: 'MatchableHttpGateway',
    command: 'httpgateway',
    aliases: ['hgw', 'httpgateways'],
    plural: 'HTTP gateways',
    tables: (objects) => untitled(matchableGatewayTable(objects, 'HTTP Gateway')),
  },
  {
    kind: 'MatchableTcpGateway',
    command: 'tcpgateway',
    aliases: ['tgw', 'tcpgateways'],
    plural: 'TCP gateways',
    tables: (objects) => untitled(matchableGatewayTable(objects, 'TCP Gateway')),
  },
  {
    kind: 'VirtualHostOption',
    command: 'virtualhostoption',
    aliases: ['vho', 'virtualhostoptions'],
    plural: 'virtual host options',
    tables: (objects) => untitled(sharedOptionTable(objects, 'Virtual Host Option')),
  },
  {
    kind: 'RouteOption',
    command: 'routeoption',
    aliases: ['rto', 'routeoptions'],
    plural: 'route options',
    tables: (objects) => untitled(sharedOptionTable(objects, 'Route Option')),
  },
  {
    kind: 'Settings',
    command: 'settings',
    aliases: ['st'],
    plural: 'settings',
    tables: (objects) => untitled(settingsTable(objects)),
  },
  {
    kind: 'Secret',
    command: 'secret',
    aliases: ['secrets'],
    plural: 'secrets, without their values',
    tables: (objects) => untitled(secretTable(objects)),
  },
  {
    kind: 'ConfigMap',
    command: 'configmap',
    aliases: ['cm', 'configmaps'],
    plural: 'config maps',
    tables: (objects) => untitled(configMapTable(objects)),
  },
];
