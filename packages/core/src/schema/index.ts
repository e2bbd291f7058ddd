/** The types of every kind and option block: what `spec` and `options` contain after validation. */
export type { AccessLog, AccessLogFilter, AccessLoggingService } from './access-log.ts';
export type { AuthConfigSpec, AuthStep } from './auth-config.ts';
export type { ApiKeyAuth, BasicAuth } from './auth-methods.ts';
export type { CircuitBreakers } from './circuit-breakers.ts';
export type { Cors } from './cors.ts';
export type { DestinationSpec, MultiDestination, WeightedDestination } from './destination.ts';
export type { Dlp, DlpListener } from './dlp.ts';
export type { ExtProc, ExtProcRoute } from './ext-proc.ts';
export type { ExtAuthExtension, ExtAuthServer } from './extauth.ts';
export type {
  ConnectionLimit,
  HttpListenerOptions,
  ListenerOptions,
  RouteConfigOptions,
  TcpListenerOptions,
} from './gateway-options.ts';
export type {
  ConnectionMatcher,
  GatewaySpec,
  HttpGateway,
  MatchableHttpGatewaySpec,
  MatchableTcpGatewaySpec,
  TcpGateway,
  TcpHost,
} from './gateway.ts';
export type { GraphQLApiSpec, Resolution } from './graphql-api.ts';
export type { GrpcJsonTranscoder } from './grpc-json-transcoder.ts';
export type { HeaderManipulation, RequestHeaderToAdd, ResponseHeaderToAdd } from './header-manipulation.ts';
export type { HealthCheck, OutlierDetection } from './health.ts';
export type { HttpConnectionManagerSettings } from './http-connection-manager.ts';
export type { JsonSchema, Reader } from './json-schema.ts';
export type { ClaimToHeader, JwtProvider, JwtProviders, JwtRoute, JwtStaged, JwtStagedRoute } from './jwt.ts';
export type { ListenerTracing } from './listener-tracing.ts';
export type { LoadBalancerConfig } from './load-balancer.ts';
export type { HeaderMatcher, LabelExpression, Matcher, QueryParameterMatcher, StringMatcher } from './matcher.ts';
export type {
  AccessTokenValidation,
  AzureGroups,
  Oauth2,
  OidcAuthorizationCode,
  OidcShort,
  PlainOauth2,
} from './oauth2.ts';
export type { PassThroughAuth } from './pass-through-auth.ts';
export type { ProxySpec } from './proxy.ts';
export type {
  RateLimit,
  RateLimitAction,
  RateLimitActions,
  RateLimitBasic,
  RateLimitConfigRefs,
  RateLimitConfigSpec,
  RateLimitDescriptor,
  RateLimitRoute,
  RateLimitRules,
  RateLimitServer,
  RateLimitSetDescriptor,
  RateLimitVhost,
  TokenBucket,
} from './rate-limit.ts';
export type { Rbac, RbacPolicy } from './rbac.ts';
export type { RegexRewrite } from './regex-rewrite.ts';
export type { Retries } from './retries.ts';
export type { RouteOptionSpec } from './route-option.ts';
export type { RouteOptions, VirtualHostOptions, WeightedDestinationOptions } from './route-options.ts';
export type { RouteTableSpec } from './route-table.ts';
export type {
  DelegateAction,
  DirectResponseAction,
  ForwardAction,
  RedirectAction,
  RouteSpec,
  RouteTableSelector,
} from './route.ts';
export type { ConfigMapSpec, SecretSpec } from './secret.ts';
export type { ServiceSpec, SubsetSpec } from './service-spec.ts';
export type { RedisOptions, UserSession } from './session.ts';
export type { ConsulDiscovery, ConsulSettings } from './settings-consul.ts';
export type { GatewaySettings, GwSettings, InvalidConfigPolicy, ValidationSettings } from './settings-gateway.ts';
export type { SecretOptions, VaultSecrets } from './settings-sources.ts';
export type { SettingsSpec } from './settings.ts';
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
} from './small-options.ts';
export type { ServerSslParameters, SslConfig, SslFiles, SslParameters, UpstreamSslConfig } from './ssl-config.ts';
export type {
  FunctionParameters,
  StagedTransformations,
  Transformation,
  TransformationStage,
  TransformationTemplate,
  Transformations,
} from './transformations.ts';
export type { UpstreamGroupSpec } from './upstream-group.ts';
export type {
  AwsEc2Upstream,
  AwsUpstream,
  AzureUpstream,
  ConsulUpstream,
  Failover,
  KubeUpstream,
  StaticHost,
  StaticUpstream,
} from './upstream-types.ts';
export type { ConnectionConfig, UpstreamSpec } from './upstream.ts';
export type { VirtualHostOptionSpec } from './virtual-host-option.ts';
export type { VirtualHostSpec, VirtualServiceSpec } from './virtual-service.ts';
export type { Waf } from './waf.ts';
