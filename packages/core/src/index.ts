import './node-version/supported.ts';
export { MAX_WORKERS } from './syntax/max-workers.ts';
export { gatewayNamespace, isNamespaceName, setGatewayNamespace } from './resource/gateway-namespace.ts';
export {
  DEFAULT_NAMESPACE,
  KIND_NAMES,
  STATES,
  clusterName,
  keyOf,
  type Kind,
  type Metadata,
  type Origin,
  type Resource,
  type ResourceKey,
  type ResourceRef,
  type ResourceStatus,
  type State,
  type StatusReport,
} from './resource/resource.ts';
export { GATEWAY_API_GROUP, GATEWAY_API_LABELS, gatewayApiAnnotations } from './resource/generated.ts';
export { kubernetesStatus, type RateLimitConfigStatus } from './resource/kubernetes-status.ts';
export type { ClusterService, ClusterServicePort, ClusterServices } from './contract/cluster-services.ts';
export type { ActionExchange, ActionKind, Responder, WriteHead } from './contract/action.ts';
export { httpListenersOf } from './contract/http-listeners.ts';
export {
  STAGES,
  createContext,
  type AzureAddresses,
  type Concern,
  type Context,
  type Handler,
  type Next,
  type Scope,
  type Stage,
} from './contract/concern.ts';
export { asMiddleware, type CreateMiddleware, type MiddlewareOptions } from './middleware/as-middleware.ts';
export type { OptionBlock, OptionRules } from './middleware/check-options.ts';
export { denialError } from './middleware/denial.ts';
export { errorResponse, jsonResponse, withRequestId, type ErrorResponse } from './http/error-response.ts';
export { identityFrom, type Identity } from './contract/identity.ts';
export { plainSecrets } from './contract/plain-secrets.ts';
export { linger, lingerOnClose, setCloseDelay } from './http/lingering-close.ts';
export { onlyProtected, protect, type Middleware, type ProtectedHandler } from './middleware/protect.ts';
export { acceptUpgrades, type UpgradeServer } from './middleware/accept-upgrades.ts';
export { runMiddleware } from './middleware/run-middleware.ts';
export { createUpgradeResponse, releaseSocket } from './middleware/upgrade-response.ts';
export type { LocatedRejection, ProxyRejection, ProxyStatus } from './contract/proxy-status.ts';
export type { ProxyTraffic, ReportedRequests, ReportedUpstream, TrafficReport } from './contract/proxy-traffic.ts';
export type { ConnectionFailure, HealthFlagName, HostCounters, HostState, Locality } from './contract/host-state.ts';
export {
  RECORDING_HEADER,
  type RecordedStep,
  type RequestRecording,
  type RequestRecordings,
} from './contract/request-recordings.ts';
export type { CallSpan, RequestSpans } from './contract/request-spans.ts';
export type { StateHold } from './contract/states.ts';
export { differingKeys, withChanges, type MapChanges } from './layered-map.ts';
export { difference, type Difference } from './ranges.ts';
export { isStale, noteSecrets, type SecretUse } from './contract/secret-use.ts';
export { networkOf, readNetwork } from './contract/client-network.ts';
export { plainAddress, protocolOf, type ClientConnection } from './contract/client-connection.ts';
export { serviceSpecOf, typeWithFunctions, undeclaredFunctions } from './upstream/service-functions.ts';
export { createLocalBucket, type LocalBucket } from './upstream/token-bucket.ts';
export { delayOf, parseDuration } from './syntax/duration.ts';
export { withDeadline } from './time/deadline.ts';
export { MAX_DELAY_MS, nodeDelay, startInterval, startTimer, timeoutSignal, wait } from './time/timer.ts';
export { fromByteString, toByteString } from './http/byte-string.ts';
export {
  FORWARDED_HEADERS,
  FRAMING_HEADERS,
  canonicalName,
  grantedHeaderNames,
  isHeaderName,
  isHeaderBytes,
  isHeaderValue,
  isIdentityHeader,
} from './http/reserved-headers.ts';
export { protectHttp2, protectHttp2Session } from './http/protect-http2.ts';
export { GatewayError, InvalidResourceError, errorsOf, type ErrorReply, type GatewayErrorOptions } from './errors.ts';
export {
  applyHeaderChanges,
  factsOf,
  headerIn,
  identityOf,
  type Facts,
  type HeaderChange,
  type ReadBody,
  type LogMask,
} from './contract/facts.ts';
export { watchAuthentication, type AuthenticationEnd } from './contract/watch-authentication.ts';
export {
  chargeComplexity,
  chargeOperation,
  type ComplexityCharge,
  type OperationCharge,
} from './contract/complexity-charge.ts';
export type { GroupLookup, GroupLookupKind, TokenClaims } from './contract/group-lookup.ts';
export { createLineSink, type LineSink, type LineSinkOptions } from './observe/line-sink.ts';
export {
  LOGGER_NAMES,
  LOG_LEVELS,
  SETTABLE_LEVELS,
  parseLoggerLevel,
  parseLogLevel,
  type LoggerLevel,
  type LoggerName,
  type LogLevel,
  type SettableLevel,
} from './observe/log-levels.ts';
export { createLoggers, libraryLoggers, silentLoggers, type Logger, type Loggers } from './observe/logger.ts';
export { createWatchdog, type WatchdogOptions } from './observe/watchdog.ts';
export { logRejection } from './observe/rejection-log.ts';
export { ExactNumber, parseJson } from './syntax/exact-number.ts';
export { parseStrictJson } from './syntax/strict-json.ts';
export { inflateSpec } from './syntax/compressed-spec.ts';
export { printable, readableLine } from './observe/readable-line.ts';
export type { RecentLines } from './observe/recent-lines.ts';
export {
  HISTOGRAM_BUCKETS,
  SECONDS_BUCKETS,
  createMetrics,
  httpStat,
  samplesOf,
  type Counter,
  type Gauge,
  type Histogram,
  type Metrics,
  type Sample,
  type Stat,
  type StatName,
} from './observe/metrics.ts';
export { isBelow } from './observe/path-prefix.ts';
export {
  formatIssue,
  formatOrigin,
  formatPath,
  parsePath,
  groupByCause,
  issueData,
  type FieldPath,
  type FieldProblem,
  type Problem,
} from './resource/problem.ts';
export { parseDocuments, type ParseOptions } from './parse/parse.ts';
export { describesBytes } from './body/changed-body.ts';
export { bodyFilterOf, filterRequestBody, type BodyStream } from './body/filtered-request.ts';
export { findJsonProblem } from './parse/json-syntax.ts';
export { peekBody, readWholeBody, replaceBody } from './body/request-body.ts';
export { hasBody, noteHasBody } from './body/request-framing.ts';
export { FilteredResponse, type FailureReply, type FilterOwner } from './body/filtered-response.ts';
export type {
  BodyChange,
  FilteredHead,
  ResponseFilter,
  StreamedBody,
  TunnelHead,
  WholeBody,
} from './contract/response-filter.ts';
export { listenHttpServer, type ListeningServer, type ServerAddress, type ServerTls } from './http/listening-server.ts';
export { decodeContent } from './http/content-coding.ts';
export { replyBody, type ReplyBody } from './http/reply-body.ts';
export { readBody, readLimited } from './http/read-body.ts';
export { restoreBody, type RestoredBody } from './http/parsed-body.ts';
export { RegexError, compileRegex, type Regex, type Span } from './syntax/regex.ts';
export type { HeaderReader } from './upstream/retry-after.ts';
export { compileRetries, type RetryPolicy } from './upstream/retry-policy.ts';
export { createRoundRobin } from './upstream/round-robin.ts';
export { nearest } from './syntax/did-you-mean.ts';
export { optionsKeptByNpm } from './syntax/npm-options.ts';
export {
  ARGUMENT_OPERATORS,
  LOG_OPERATORS,
  PLAIN_OPERATORS,
  RESPONSE_ARGUMENT_OPERATORS,
  RESPONSE_OPERATORS,
} from './syntax/header-format.ts';
export { declaredCheckHost } from './upstream/check-host.ts';
export { upstreamHttpVersion, type UpstreamHttpVersion } from './upstream/http-version.ts';
export { grpcTypeOf, type GrpcKind, type GrpcType } from './http/grpc-type.ts';
export { GRPC_STATUSES } from './syntax/grpc-status.ts';
export { shareOf, type Fraction } from './syntax/fraction.ts';
export { isHost } from './syntax/host.ts';
export { connectionSettings, type ConnectionSettings, type SocketOption } from './syntax/socket-options.ts';
export {
  alternativeNames,
  certificateBlocks,
  distinguishedName,
  parseCertificates,
  principalOf,
  type AlternativeName,
} from './security/certificates.ts';
export {
  certificateState,
  coverageProblem,
  datedCertificates,
  datesProblems,
  holderOf,
  nextCertificateState,
  secretCertificates,
  validityProblem,
  type CertificateState,
} from './security/certificate-validity.ts';
export { deriveKey, digest, keyedDigest, randomToken, seal, unseal, unsealWith } from './security/seal.ts';
export {
  MIN_SIGNING_KEY_BYTES,
  PREVIOUS_SIGNING_KEY_ENTRY,
  SIGNING_KEY_ENTRY,
  signingKeySecret,
  signingKeyProblem,
} from './security/signing-key.ts';
export { directorySource, type DirectoryOptions } from './source/directory.ts';
export { createYielder, runInSlices, runSteps, type Steps } from './time/slices.ts';
export { readRegularFile, UnusableFile } from './source/read-file.ts';
export { readKeyFile } from './state-file/key-file.ts';
export { readStateFile } from './state-file/read-state-file.ts';
export { replaceFile } from './state-file/replace-file.ts';
export { writeAll } from './state-file/write-all.ts';
export {
  createScheduledWriter,
  type ScheduledWriter,
  type ScheduledWriterOptions,
} from './state-file/scheduled-writer.ts';
export { backoffMs, type BackoffLimits } from './time/backoff.ts';
export { settingsKey } from './translate/translation-settings.ts';
export { DISCOVERY_LABEL, FUNCTIONS_ANNOTATION } from './resource/discovery-label.ts';
export { matchesSelector, type Labels, type LabelSelector } from './syntax/label-expression.ts';
export { fileSource } from './source/read-unit.ts';
export { memorySource, type MemorySource } from './source/memory.ts';
export { writtenObjects } from './source/written-object.ts';
export { severalSources } from './source/several.ts';
export type { Source, SourceChange, WrittenResource } from './source/source.ts';
export type { FilesRead, ResourceFiles } from './source/watched-files.ts';
export type { SchemaNode } from './schema/field.ts';
export { describeField } from './schema/json-schema.ts';
export { KINDS, findKind, type KindInfo } from './schema/kinds.ts';
export {
  DEFAULT_SNAPSHOT_SETTINGS,
  secretText,
  type Destination,
  type DynamicDestination,
  type Endpoint,
  type ConnectionMatch,
  type Listener,
  type ListenerPart,
  type TcpDestination,
  type TcpHost,
  type RestCall,
  type Route,
  type RouteAction,
  type Secrets,
  type SecretValue,
  type Snapshot,
  type PolicySource,
  type SnapshotAuthConfig,
  type SnapshotGraphQLApi,
  type SnapshotRateLimitConfig,
  type SnapshotSettings,
  type SnapshotUpstream,
  type TranscoderRef,
  type TlsConfiguration,
  type VirtualHost,
} from './contract/snapshot.ts';
export { mixesOperators, parseExpression, type Expression } from './syntax/boolean-expression.ts';
export {
  createControlPlane,
  loadDirectory,
  loadSource,
  type ControlPlane,
  type ControlPlaneOptions,
} from './control/control-plane.ts';
export type { ChangePreview } from './control/preview.ts';
export { watchedNamespaces, type IsWatched } from './control/watched-namespaces.ts';
export { acceptedFile, type AcceptedFile, type AcceptedFileOptions } from './control/accepted/accepted-file.ts';
export type { ControlPlaneState, KnownAuthConfig } from './control/state.ts';
export type { Observed, ObservedProblem, StoredResource, StoreState } from './resource/stored.ts';
export { createStore, type Store } from './control/store.ts';
export { contentText, digestText, freezeDeep } from './translate/snapshot/content.ts';
export { diffSnapshots, isSame, type FieldDiff, type PartDiff, type SnapshotDiff } from './translate/snapshot/diff.ts';
export type { UnservedListener } from './translate/listener/unserved-listeners.ts';
export { hasSameItems, lowerBound, sameList } from './translate/lists.ts';
export { sortRoutes } from './translate/route/route-order.ts';
export { translate } from './translate/translate.ts';
export type { TranslateOptions, Translation } from './translate/translate.ts';
export type { DefaultGateways } from './translate/listener/gateways.ts';
export type {
  CallRetry,
  CallUpstream,
  FoundUpstream,
  UpstreamResponse,
  UpstreamCall,
  UpstreamConnection,
} from './upstream/upstream-call.ts';
export { TLS_VERSIONS, parseRoots, type TlsTexts as TlsMaterial } from './security/tls-material.ts';
export { isMustStaple, NEEDS_STAPLE, OCSP_STAPLE, parseOcspStaple, type OcspStaple } from './security/ocsp.ts';
export { CIPHER_SUITES } from './security/cipher-suites.ts';
export { tlsParameters, type TlsParameters } from './security/tls-parameters.ts';
export { readCertificateFiles, type ReadFiles } from './source/certificate-files.ts';
export {
  resolveCertificates,
  createClientTls,
  createUpstreamTls,
  readClientTlsMaterial,
  readTlsMaterial,
  type UpstreamTls,
} from './upstream/upstream-tls.ts';
export { authPlaceOf, type AuthPlace, type AuthServers } from './contract/auth-place.ts';
export type {
  AuthAllowed,
  AuthDecision,
  AuthDenied,
  AuthMethod,
  AuthMethodKind,
  AuthRequest,
  QueryChange,
  TlsNames,
} from './contract/auth-method.ts';
export type { ResourceCheck } from './validate/check.ts';
export { validateWritten, type Validated } from './validate/validate.ts';
export type { TemplateData } from './template/run.ts';
export { RenderError, TemplateError } from './template/template-error.ts';
export { compileTemplate, type Template, type TemplateSyntax } from './template/template.ts';
export { memberOf, toValue, type Value } from './template/value.ts';
export { functionTemplate } from './validate/transformation/function-template.ts';
export { formatOperatorAt, type FormatOperator } from './syntax/format-operator.ts';
export { parameterExtractors } from './syntax/parameter-pattern.ts';
export { checkMethod } from './validate/route/check-matcher.ts';
export { extractorProblem } from './validate/transformation/extractor.ts';
export { stagesOf, type HasTransformations } from './validate/transformation/stages.ts';
export { headerProblems } from './validate/transformation/check-transformations.ts';
export { templateProblems, type TemplateProblem } from './validate/transformation/template-problems.ts';
export { errorPage, SWITCH_ACCOUNT, type ErrorFacts } from './page/error-page.ts';
export { renderForBrowser, withPage, type Reader } from './middleware/render-for-browser.ts';
export { isNavigation, prefersJson, signsOf, type RequestSigns } from './page/navigation.ts';
export {
  PAGE_VARIABLES,
  createPages,
  escapeHtml,
  pageHeaders,
  type PageContent,
  type PageLink,
  type Pages,
} from './page/pages.ts';
export { metricHelp } from './observe/metric-help.ts';
export { jwtBlockOf } from './schema/auth/jwt-levels.ts';
export { DEFAULTS } from './schema/defaults.ts';
export { sdsFileOf, sdsSourceOf } from './security/sds-target.ts';
export { inEffect } from './schema/in-effect.ts';
export { writtenHostField, type WrittenField } from './translate/snapshot/written-field.ts';
export { snapshotPartProblem, type SnapshotPartName } from './validate/snapshot-part.ts';
export { LAST_APPLIED_ANNOTATION, REDACTED, hiddenLiterals, redact, redactAll, redactText } from './security/redact.ts';
export { REDACTED_IN_LOG, isSecretHeader, isToken, redactPath } from './security/request-secrets.ts';
export { parseCookies } from './http/cookies.ts';
export { cookieNameProblem, hostPrefix, type CookieTest } from './http/cookie-names.ts';
export { createLoginPaths, type LoginPathField } from './http/login-paths.ts';
export { hideCookies, visibleCookies } from './http/hide-cookies.ts';
export { claimOwnPort, ownPorts } from './http/own-ports.ts';
export { isLoopbackUrl, isPrivateHttpUrl, isTrustedUrl, type UrlTrust } from './security/trusted-url.ts';
export {
  isSecretName,
  isSecretQuery,
  refersToSecrets,
  secretFields,
  type SecretField,
} from './security/secret-fields.ts';
export { readRedisAddress, type RedisAddress, type RedisNode, type RedisSentinels } from './redis/address.ts';
export type { RedisClientOptions, RedisClusterOptions, RedisSentinelOptions } from './redis/client-options.ts';
export {
  createRedis,
  UnexpectedReply,
  type Redis,
  type RedisClientLike,
  type RedisParts,
  type RunOptions,
} from './redis/redis.ts';
export { readBuildInfo, type BuildInfo } from './observe/build-info.ts';
