import type { FieldProblem } from '../resource/problem.ts';
import type { Kind, Resource } from '../resource/resource.ts';
import type { AuthConfigSpec } from '../schema/kind/auth-config.ts';
import type { GatewaySpec, MatchableHttpGatewaySpec, MatchableTcpGatewaySpec } from '../schema/kind/gateway.ts';
import type { GraphQLApiSpec } from '../schema/kind/graphql-api.ts';
import type { HttpListenerOptionSpec } from '../schema/kind/http-listener-option.ts';
import type { ListenerOptionSpec } from '../schema/kind/listener-option.ts';
import type { ProxySpec } from '../schema/kind/proxy.ts';
import type { RateLimitConfigSpec } from '../schema/route/rate-limit.ts';
import type { RouteOptionSpec } from '../schema/kind/route-option.ts';
import type { RouteTableSpec } from '../schema/kind/route-table.ts';
import type { SecretSpec } from '../schema/kind/secret.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import type { UpstreamGroupSpec } from '../schema/kind/upstream-group.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import type { VirtualHostOptionSpec } from '../schema/kind/virtual-host-option.ts';
import type { VirtualServiceSpec } from '../schema/kind/virtual-service.ts';
import { checkAuthConfig } from './auth/check-auth-config.ts';
import { checkSecretEntries, checkSigningKey } from './auth/check-secret.ts';
import { each, fields, type ResourceCheck } from './check.ts';
import { checkGateway, checkMatchableHttp, checkMatchableTcp } from './check-gateway.ts';
import { checkGraphQLApi } from './check-graphql-api.ts';
import { checkHttpListenerOptions, checkListenerOptions } from './check-listener-options.ts';
import { checkProxy } from './check-proxy.ts';
import { checkTargetRefs } from './check-target-refs.ts';
import { checkRateLimitConfig } from './rate-limit/check-rate-limit-rules.ts';
import { checkWeighted } from './route/check-destination.ts';
import { checkRoute } from './route/check-route.ts';
import { checkRouteOptions, checkVirtualHostOptions } from './route/check-route-options.ts';
import { checkVirtualHost } from './route/check-virtual-host.ts';
import { checkSettings } from './check-settings.ts';
import { checkSslConfig } from './check-ssl-config.ts';
import { checkUpstream } from './check-upstream.ts';

const SPEC = ['spec'] as const;
const CHECKS: Partial<Record<Kind, (spec: never, resource: Resource) => FieldProblem[]>> = {
  AuthConfig: (spec: AuthConfigSpec) => checkAuthConfig(spec, SPEC),
  Gateway: (spec: GatewaySpec) => checkGateway(spec, SPEC),
  GraphQLApi: (spec: GraphQLApiSpec) => checkGraphQLApi(spec, SPEC),
  HttpListenerOption: (spec: HttpListenerOptionSpec, { metadata }) => [
    ...fields(spec, SPEC, { options: checkHttpListenerOptions }),
    ...checkTargetRefs(spec, SPEC, metadata.namespace),
  ],
  ListenerOption: (spec: ListenerOptionSpec, { metadata }) => [
    ...fields(spec, SPEC, { options: checkListenerOptions }),
    ...checkTargetRefs(spec, SPEC, metadata.namespace),
  ],
  MatchableHttpGateway: (spec: MatchableHttpGatewaySpec) => checkMatchableHttp(spec, SPEC),
  MatchableTcpGateway: (spec: MatchableTcpGatewaySpec) => checkMatchableTcp(spec, SPEC),
  Proxy: (spec: ProxySpec) => checkProxy(spec, SPEC),
  RateLimitConfig: (spec: RateLimitConfigSpec) => checkRateLimitConfig(spec, SPEC),
  RouteOption: (spec: RouteOptionSpec) => fields(spec, SPEC, { options: checkRouteOptions }),
  RouteTable: ({ routes }: RouteTableSpec) => each(routes, ['spec', 'routes'], checkRoute),
  Secret: (spec: SecretSpec, resource) => [...checkSecretEntries(spec), ...checkSigningKey(spec, resource)],
  Settings: (spec: SettingsSpec) => checkSettings(spec, SPEC),
  Upstream: (spec: UpstreamSpec) => checkUpstream(spec, SPEC),
  UpstreamGroup: ({ destinations }: UpstreamGroupSpec) => checkWeighted(destinations, ['spec', 'destinations']),
  VirtualHostOption: (spec: VirtualHostOptionSpec) => fields(spec, SPEC, { options: checkVirtualHostOptions }),
  VirtualService: (spec: VirtualServiceSpec) =>
    fields(spec, SPEC, { sslConfig: checkSslConfig, virtualHost: checkVirtualHost }),
};

/**
 * Returns problems that the schema cannot express. Each finding except warnings rejects the resource.
 * Independent of other resources: problems between resources are found by the translation.
 */
export function checkSemantics(resource: Resource, more: readonly ResourceCheck[] = []): readonly FieldProblem[] {
  const spec = (resource.spec ?? {}) as never;
  const own = CHECKS[resource.kind]?.(spec, resource) ?? [];
  return [...own, ...more.flatMap(({ kind, check }) => (kind === resource.kind ? check(spec, SPEC) : []))];
}
