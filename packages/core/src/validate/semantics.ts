import type { FieldProblem } from '../resource/problem.ts';
import type { Kind, Resource } from '../resource/resource.ts';
import type { AuthConfigSpec } from '../schema/kind/auth-config.ts';
import type { GatewaySpec, MatchableHttpGatewaySpec } from '../schema/kind/gateway.ts';
import type { GraphQLApiSpec } from '../schema/kind/graphql-api.ts';
import type { RouteOptionSpec } from '../schema/kind/route-option.ts';
import type { RouteTableSpec } from '../schema/kind/route-table.ts';
import type { SecretSpec } from '../schema/kind/secret.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import type { UpstreamGroupSpec } from '../schema/kind/upstream-group.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import type { VirtualHostOptionSpec } from '../schema/kind/virtual-host-option.ts';
import type { VirtualServiceSpec } from '../schema/kind/virtual-service.ts';
import { checkAuthConfig } from './auth/auth-config.ts';
import { checkExtAuth } from './auth/ext-auth.ts';
import { within } from './check.ts';
import { checkGateway, checkHttpGateway } from './gateway.ts';
import { checkGraphQLApi } from './graphql-api.ts';
import type { ResourceCheck } from './resource-check.ts';
import { checkRouteOptions } from './route/route-options.ts';
import { checkRouteTable } from './route/route-table.ts';
import { checkSecretEntries, checkSigningKey } from './auth/secret-entries.ts';
import { checkUpstreamGroup } from './upstream-group.ts';
import { checkUpstream } from './upstream.ts';
import { checkVirtualHostOptions } from './route/virtual-host-options.ts';
import { checkVirtualService } from './route/virtual-service.ts';

const CHECKS: Partial<Record<Kind, (spec: never, resource: Resource) => FieldProblem[]>> = {
  AuthConfig: (spec: AuthConfigSpec) => checkAuthConfig(spec, ['spec']),
  Gateway: (spec: GatewaySpec) => checkGateway(spec, ['spec']),
  GraphQLApi: (spec: GraphQLApiSpec) => checkGraphQLApi(spec, ['spec']),
  MatchableHttpGateway: ({ httpGateway }: MatchableHttpGatewaySpec) =>
    httpGateway ? checkHttpGateway(httpGateway, ['spec', 'httpGateway']) : [],
  RouteOption: ({ options }: RouteOptionSpec) => (options ? checkRouteOptions(options, ['spec', 'options']) : []),
  RouteTable: (spec: RouteTableSpec) => checkRouteTable(spec, ['spec']),
  Secret: (spec: SecretSpec, resource) => [...checkSecretEntries(spec), ...checkSigningKey(spec, resource)],
  Settings: ({ extauth }: SettingsSpec) => within(extauth, ['spec', 'extauth'], checkExtAuth),
  Upstream: (spec: UpstreamSpec) => checkUpstream(spec, ['spec']),
  UpstreamGroup: (spec: UpstreamGroupSpec) => checkUpstreamGroup(spec, ['spec']),
  VirtualHostOption: ({ options }: VirtualHostOptionSpec) =>
    options ? checkVirtualHostOptions(options, ['spec', 'options']) : [],
  VirtualService: (spec: VirtualServiceSpec) => checkVirtualService(spec, ['spec']),
};

/**
 * Returns problems that the schema cannot express. Each finding except warnings rejects the resource.
 * Independent of other resources: problems between resources are found by the translation.
 */
export function checkSemantics(resource: Resource, more: readonly ResourceCheck[] = []): readonly FieldProblem[] {
  const spec = (resource.spec ?? {}) as never;
  const own = CHECKS[resource.kind]?.(spec, resource) ?? [];
  return [...own, ...more.flatMap(({ kind, check }) => (kind === resource.kind ? check(spec, ['spec']) : []))];
}
