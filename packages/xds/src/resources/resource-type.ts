const PREFIX = 'type.googleapis.com/edge_gateway.config.v1.';

/** The types of resources that a proxy receives, in the order in which they are sent: referenced types come first. */
export const RESOURCE_TYPES = [
  `${PREFIX}Secret`,
  `${PREFIX}Upstream`,
  `${PREFIX}EndpointSet`,
  `${PREFIX}AuthConfig`,
  `${PREFIX}RateLimitConfig`,
  `${PREFIX}GraphQLApi`,
  `${PREFIX}Settings`,
  `${PREFIX}Listener`,
  `${PREFIX}VirtualHost`,
  `${PREFIX}Snapshot`,
] as const;

/** The type URL of a part of a snapshot. */
export type ResourceType = (typeof RESOURCE_TYPES)[number];

const typeOf = (name: string): ResourceType => `${PREFIX}${name}` as ResourceType;

/** Type URLs by name. */
export const TYPE = {
  secret: typeOf('Secret'),
  upstream: typeOf('Upstream'),
  endpointSet: typeOf('EndpointSet'),
  authConfig: typeOf('AuthConfig'),
  rateLimitConfig: typeOf('RateLimitConfig'),
  graphqlApi: typeOf('GraphQLApi'),
  settings: typeOf('Settings'),
  listener: typeOf('Listener'),
  virtualHost: typeOf('VirtualHost'),
  snapshot: typeOf('Snapshot'),
} as const;

/** Returns the name of a type, e.g. `VirtualHost`. */
export function typeName(type: string): string {
  return type.slice(type.lastIndexOf('.') + 1);
}
