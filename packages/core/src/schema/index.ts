/** The types of every kind and option block: what `spec` and `options` contain after validation. */
export type { AccessLog, AccessLogFilter, AccessLoggingService } from './listener/access-log.ts';
export type { AuthConfigSpec, AuthStep } from './kind/auth-config.ts';
export type { ApiKeyAuth, BasicAuth, HmacAuth, Ldap, OpaAuth, OpaServerAuth } from './auth/auth-methods.ts';
export type { CircuitBreakers } from './upstream/circuit-breakers.ts';
export type { Cors } from './route/cors.ts';
export type { DestinationSpec, MultiDestination, WeightedDestination } from './route/destination.ts';
export type { Dlp, DlpListener } from './route/dlp.ts';
export type { ExtProc, ExtProcRoute, MutationRulesOptions } from './route/ext-proc.ts';
export type { ExtAuthExtension, ExtAuthServer } from './auth/extauth.ts';
export type {
  ConnectionLimit,
  Gzip,
  HttpListenerOptions,
  ListenerOptions,
  RouteConfigOptions,
  TcpListenerOptions,
} from './listener/gateway-options.ts';
export type {
  ConnectionMatcher,
  GatewaySpec,
  HttpGateway,
  MatchableHttpGatewaySpec,
  MatchableTcpGatewaySpec,
  TcpGateway,
  TcpHost,
} from './kind/gateway.ts';
export type { GraphQLApiSpec, Resolution } from './kind/graphql-api.ts';
export type { GrpcJsonTranscoder } from './listener/grpc-json-transcoder.ts';
export type { HeaderManipulation, RequestHeaderToAdd, ResponseHeaderToAdd } from './route/header-manipulation.ts';
export type { HealthCheck, OutlierDetection } from './upstream/health.ts';
export type { HttpConnectionManagerSettings } from './listener/http-connection-manager.ts';
export type { JsonSchema } from './json-schema.ts';
export type { ClaimToHeader, JwtProvider, JwtProviders, JwtRoute, JwtStaged, JwtStagedRoute } from './auth/jwt.ts';
export type { ListenerTracing } from './listener/listener-tracing.ts';
export type { LoadBalancerConfig } from './upstream/load-balancer.ts';
export type { HeaderMatcher, LabelExpression, Matcher, QueryParameterMatcher, StringMatcher } from './route/matcher.ts';
export type {
  AccessTokenValidation,
  AzureGroups,
  Oauth2,
  OidcAuthorizationCode,
  OidcShort,
  PlainOauth2,
} from './auth/oauth2.ts';
export type { PassThroughAuth } from './auth/pass-through-auth.ts';
export type { ProxySpec } from './kind/proxy.ts';
export type {
  RateLimit,
  RateLimitAction,
  RateLimitActions,
  RateLimitBasic,
  RateLimitConcurrency,
  RateLimitConfigRefs,
  RateLimitConfigSpec,
  RateLimitCost,
  RateLimitDescriptor,
  RateLimitRoute,
  RateLimitRules,
  RateLimitServer,
  RateLimitSetDescriptor,
  RateLimitVhost,
  TokenBucket,
} from './route/rate-limit.ts';
export type { Rbac, RbacPolicy } from './auth/rbac.ts';
export type { RegexRewrite } from './route/regex-rewrite.ts';
export type { Retries } from './route/retries.ts';
export type { HttpListenerOptionSpec } from './kind/http-listener-option.ts';
export type { ListenerOptionSpec } from './kind/listener-option.ts';
export type { RouteOptionSpec } from './kind/route-option.ts';
export type {
  RateLimitLevel,
  RouteOptions,
  VirtualHostOptions,
  WeightedDestinationOptions,
} from './route/route-options.ts';
export type { RouteTableSpec } from './kind/route-table.ts';
export type {
  DelegateAction,
  DirectResponseAction,
  ForwardAction,
  RedirectAction,
  RouteSpec,
  RouteTableSelector,
} from './route/route.ts';
export type { ConfigMapSpec, SecretSpec } from './kind/secret.ts';
export type { ServiceSpec, SubsetSpec } from './upstream/service-spec.ts';
export type { RedisOptions, UserSession } from './auth/session.ts';
export type { ConsulDiscovery, ConsulSettings } from './settings/settings-consul.ts';
export type {
  GatewaySettings,
  GwSettings,
  InvalidConfigPolicy,
  ValidationSettings,
} from './settings/settings-gateway.ts';
export type { SecretOptions, VaultSecrets } from './settings/settings-sources.ts';
export type { SettingsSpec } from './kind/settings.ts';
export type {
  Buffer,
  BufferPerRoute,
  Csrf,
  Faults,
  LbHash,
  RouteTracing,
  Shadowing,
  TracePercentages,
  Upgrade,
} from './route/small-options.ts';
export type {
  Sds,
  ServerSslParameters,
  SslConfig,
  SslFiles,
  SslParameters,
  UpstreamSslConfig,
} from './listener/ssl-config.ts';
export type {
  FunctionParameters,
  StagedTransformations,
  Transformation,
  TransformationStage,
  TransformationTemplate,
  Transformations,
} from './route/transformations.ts';
export type { UpstreamGroupSpec } from './kind/upstream-group.ts';
export type {
  AwsEc2Upstream,
  AwsUpstream,
  AzureUpstream,
  ConsulUpstream,
  Failover,
  KubeUpstream,
  StaticHost,
  StaticUpstream,
} from './upstream/upstream-types.ts';
export type { ConnectionConfig, UpstreamSpec } from './kind/upstream.ts';
export type { VirtualHostOptionSpec } from './kind/virtual-host-option.ts';
export type { VirtualHostSpec, VirtualServiceSpec } from './kind/virtual-service.ts';
export type { Waf } from './route/waf.ts';
