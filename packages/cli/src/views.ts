import type { Kind } from '@edge-gateway/core';
import type { StatusObject } from './objects.ts';
import { authConfigTable } from './rows/auth-configs.ts';
import { graphqlApiTable } from './rows/graphql-apis.ts';
import { proxyTable } from './rows/proxies.ts';
import { rateLimitConfigTables } from './rows/rate-limit-configs.ts';
import type { TitledTable } from './rows/routes.ts';
import { upstreamGroupTable, upstreamTable } from './rows/upstreams.ts';
import { routeTableTable, virtualServiceTable } from './rows/virtual-services.ts';
import type { TableData } from './table.ts';

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
];
