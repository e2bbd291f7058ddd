import { formatPath, type FieldProblem } from '../resource/problem.ts';
import { ExtAuthServer } from '../schema/auth/extauth.ts';
import * as f from '../schema/field.ts';
import type { SchemaNode } from '../schema/field.ts';
import { AuthConfigSpec } from '../schema/kind/auth-config.ts';
import { GraphQLApiSpec } from '../schema/kind/graphql-api.ts';
import { UpstreamSpec } from '../schema/kind/upstream.ts';
import {
  HttpListenerOptions,
  ListenerOptions,
  RouteConfigOptions,
  TcpListenerOptions,
} from '../schema/listener/gateway-options.ts';
import { SslConfig, UpstreamSslConfig } from '../schema/listener/ssl-config.ts';
import { ExtProc } from '../schema/route/ext-proc.ts';
import { Matcher } from '../schema/route/matcher.ts';
import { RateLimitConfigSpec, RateLimitRules, RateLimitServer } from '../schema/route/rate-limit.ts';
import { RouteOptions, VirtualHostOptions, WeightedDestinationOptions } from '../schema/route/route-options.ts';
import { RedirectAction } from '../schema/route/route.ts';
import { FunctionParameters, TransformationTemplate } from '../schema/route/transformations.ts';
import { checkAuthConfig } from './auth/check-auth-config.ts';
import { each, type Check } from './check.ts';
import { checkGraphQLApi } from './check-graphql-api.ts';
import { checkRateLimitConfig } from './rate-limit/check-rate-limit-rules.ts';
import { checkMatcher } from './route/check-matcher.ts';
import { checkRouteOptions, checkVirtualHostOptions } from './route/check-route-options.ts';
import { firstProblem } from './types/first-problem.ts';

// The parts of a snapshot as they travel between the planes: plain data, in which names stand for parts that change alone. Their options
// have the schemas of the resources that they were translated from.

const status = f.int(undefined, { minimum: 100, maximum: 599 });
const port = f.int(undefined, { minimum: 0, maximum: 65535 });
const uint32 = f.int(undefined, { minimum: 0, maximum: 4294967295 });
const resourceRef = f.block(f.required('name', 'namespace'), { name: f.text(), namespace: f.text() });
const labels = f.map(f.text());

const restCall = f.block(f.required('functionName'), {
  functionName: f.text(),
  template: TransformationTemplate,
  parameters: FunctionParameters,
  responseTransformation: TransformationTemplate,
});

const destination = f.block(f.required('upstream', 'weight', 'options'), {
  upstream: f.text(),
  dynamic: f.block(f.required('type'), {
    type: f.enumeration(['clusterHeader', 'host']),
    header: f.text(),
    hostRewrite: f.text(),
    hostRewriteHeader: f.text(),
  }),
  weight: uint32,
  options: WeightedDestinationOptions,
  subset: labels,
  rest: restCall,
  transcoder: f.block(f.required('upstream', 'version'), { upstream: f.text(), version: f.text() }),
  broken: f.block(f.required('status', 'body', 'reason'), { status, body: f.text(), reason: f.text() }),
});

/** By the type of the action. */
const ACTION_FIELDS: Readonly<Record<string, readonly string[]>> = {
  forward: ['destinations'],
  redirect: ['redirect'],
  direct: ['status', 'body'],
  graphql: ['api'],
  replacement: ['status', 'body'],
};

const action = f.block(f.required('type'), {
  type: f.enumeration(Object.keys(ACTION_FIELDS)),
  destinations: f.list(destination),
  redirect: RedirectAction,
  status,
  body: f.text(),
  api: resourceRef,
  reason: f.text(),
});

const route = f.block(f.required('name', 'logName', 'matchers', 'action', 'options', 'source'), {
  name: f.text(),
  logName: f.text(),
  matchers: f.list(Matcher),
  action,
  options: RouteOptions,
  source: f.block(f.required('kind', 'name', 'namespace'), {
    kind: f.enumeration(['VirtualService', 'RouteTable']),
    name: f.text(),
    namespace: f.text(),
  }),
});

const tlsConfiguration = f.block(f.required('sslConfig', 'sniDomains'), {
  sslConfig: SslConfig,
  sniDomains: f.list(f.text()),
});

const listenerPart = f.block(f.required('name', 'match'), f.exactlyOne('the part serves nothing', 'http', 'tcp'), {
  name: f.text(),
  match: f.block(f.required('tls', 'serverNames', 'sourceRanges', 'passthroughCiphers'), {
    tls: f.bool(),
    serverNames: f.list(f.text()),
    sourceRanges: f.list(
      f.block(f.required('addressPrefix', 'prefixLen'), {
        addressPrefix: f.text(),
        prefixLen: f.int(undefined, { minimum: 0, maximum: 128 }),
      }),
    ),
    passthroughCiphers: f.list(f.text()),
  }),
  http: f.text(),
  tcp: f.block(f.required('name', 'destinations', 'forwardsServerName', 'sslConfigurations', 'options'), {
    name: f.text(),
    destinations: f.list(
      f.block(f.required('upstream', 'weight'), {
        upstream: f.text(),
        weight: uint32,
        subset: labels,
        broken: f.text(),
      }),
    ),
    forwardsServerName: f.bool(),
    sslConfigurations: f.list(tlsConfiguration),
    options: TcpListenerOptions,
  }),
});

const LISTENER = [
  'name',
  'bindAddress',
  'bindPort',
  'gateway',
  'ssl',
  'options',
  'httpOptions',
  'routeOptions',
  'sslConfigurations',
] as const;

const endpoint = f.block(f.required('address', 'port', 'weight'), {
  address: f.text(),
  port: port,
  alternatives: f.list(f.text()),
  weight: uint32,
  sni: f.text(),
  hostname: f.text(),
  priority: uint32,
  locality: f.block({ region: f.text(), zone: f.text(), subZone: f.text() }),
  localityWeight: uint32,
  metadata: labels,
  healthCheck: f.block({ port: port, hostname: f.text(), path: f.text(), method: f.text() }),
  sslConfig: UpstreamSslConfig,
});

const policySource = f.block(f.required('name'), { name: f.text(), text: f.text(), binary: f.text() });

/** An AuthConfig with the Rego modules that the translation adds to its steps. */
const authConfigSpec = changed(AuthConfigSpec as SchemaNode, 'configs', (configs) => ({
  ...configs,
  items: changed(configs.items!, 'opaAuth', (opaAuth) =>
    changed(opaAuth, 'sources', () => f.list(policySource) as SchemaNode),
  ),
})) as typeof AuthConfigSpec;

interface SnapshotApi {
  readonly spec?: GraphQLApiSpec;
}
const graphqlApi = f.named<SnapshotApi>(
  'SnapshotGraphQLApi',
  f.block(f.required('ref', 'spec', 'subschemas'), {
    ref: resourceRef,
    spec: GraphQLApiSpec,
    subschemas: f.list(f.self('SnapshotGraphQLApi')),
    descriptorSets: f.list(f.text()),
    serverSchema: f.text(),
  }),
);

const PARTS = {
  Secret: f.block(f.required('data'), { type: f.text(), data: f.map(f.text()) }),
  Upstream: f.block(f.required('name', 'ref', 'spec', 'tls'), {
    name: f.text(),
    ref: resourceRef,
    spec: UpstreamSpec,
    dns: f.block({ ipV4Only: f.bool(), failoverRate: f.duration() }),
    descriptorSet: f.text(),
    tls: f.bool(),
  }),
  EndpointSet: f.block(f.required('endpoints'), { endpoints: f.list(endpoint) }),
  AuthConfig: f.block(f.required('ref', 'spec'), { ref: resourceRef, spec: authConfigSpec }),
  RateLimitConfig: f.block(f.required('ref', 'spec'), { ref: resourceRef, spec: RateLimitConfigSpec }),
  GraphQLApi: graphqlApi,
  Settings: f.block(f.required('requireRbac'), {
    extauth: ExtAuthServer,
    namedExtauth: f.map(ExtAuthServer),
    extProc: ExtProc,
    extProcEarly: ExtProc,
    extProcLate: ExtProc,
    ratelimit: RateLimitRules,
    ratelimitServer: RateLimitServer,
    requireRbac: f.bool(),
    escapeCharacters: f.bool(),
    disableGrpcWeb: f.bool(),
    logTransformations: f.bool(),
    hidesApiExplorer: f.bool(),
  }),
  Listener: f.block(f.required(...LISTENER), {
    name: f.text(),
    bindAddress: f.text(),
    bindPort: port,
    gateway: resourceRef,
    ssl: f.bool(),
    useProxyProto: f.bool(),
    options: ListenerOptions,
    httpOptions: HttpListenerOptions,
    routeOptions: RouteConfigOptions,
    descriptorSet: f.text(),
    sslConfigurations: f.list(tlsConfiguration),
    virtualHosts: f.list(f.text()),
    parts: f.list(listenerPart),
    type: f.enumeration(['tcp', 'hybrid', 'aggregate']),
  }),
  VirtualHost: f.block(
    f.required(
      'name',
      'virtualService',
      'listener',
      'domains',
      'options',
      'routes',
      'authConfigs',
      'rateLimitConfigs',
      'graphqlApis',
    ),
    {
      name: f.text(),
      virtualService: resourceRef,
      listener: f.text(),
      domains: f.list(f.text()),
      options: VirtualHostOptions,
      routes: f.list(route),
      authConfigs: f.list(f.text()),
      rateLimitConfigs: f.list(f.text()),
      graphqlApis: f.list(f.text()),
    },
  ),
  Snapshot: f.block(f.required('proxy', 'version', 'listeners', 'unserved', 'versions'), {
    proxy: f.text(),
    version: f.text(),
    listeners: f.list(f.text()),
    unserved: f.list(
      f.block(f.required('name', 'reason'), { name: f.text(), reason: f.text(), resources: f.anything() }),
    ),
    versions: f.map(f.text()),
  }),
} as const;

/** The name of a kind of part of a snapshot. */
export type SnapshotPartName = keyof typeof PARTS;

type Parts = { readonly [K in SnapshotPartName]: f.Static<(typeof PARTS)[K]> };

/** What the schemas cannot express. */
const CHECKS: { readonly [K in SnapshotPartName]?: Check<Parts[K]> } = {
  AuthConfig: ({ spec }, at) => checkAuthConfig(spec!, [...at, 'spec']),
  RateLimitConfig: ({ spec }, at) => checkRateLimitConfig(spec!, [...at, 'spec']),
  GraphQLApi: ({ spec }, at) => checkGraphQLApi(spec!, [...at, 'spec']),
  VirtualHost: ({ options = {}, routes }, at) => [
    ...checkVirtualHostOptions(options, [...at, 'options']),
    ...each(routes, [...at, 'routes'], checkSnapshotRoute),
  ],
};

const checkSnapshotRoute: Check<f.Static<typeof route>> = ({ matchers, action: found = {}, options = {} }, at) => [
  ...each(matchers, [...at, 'matchers'], checkMatcher),
  ...checkAction(found, [...at, 'action']),
  ...checkRouteOptions(options, [...at, 'options']),
];

const checkAction: Check<f.Static<typeof action>> = (found, at) => {
  const missing = ACTION_FIELDS[found.type!]!.find((name) => found[name as keyof typeof found] === undefined);
  return missing === undefined ? [] : [{ code: 'MISSING_FIELD', path: at, message: `${missing} is missing` }];
};

/**
 * Returns the first problem of a part of a snapshot that was received from elsewhere; `undefined` if this version can serve it. An unknown
 * field is a problem too: it may protect what it belongs to.
 *
 * @example
 * snapshotPartProblem('EndpointSet', { endpoints: [{ address: '10.0.0.1', port: 70000, weight: 1 }] });
 * // { field: 'endpoints[0].port', message: 'must be at least 0 and at most 65535, got 70000' }
 */
export function snapshotPartProblem(
  part: SnapshotPartName,
  value: unknown,
): { readonly field: string; readonly message: string } | undefined {
  const found = firstProblem(PARTS[part] as SchemaNode, value) ?? firstError(part, value);
  if (!found) return undefined;
  const { path, message, hint } = found;
  return { field: formatPath(path), message: hint === undefined ? message : `${message} (${hint})` };
}

function firstError(part: SnapshotPartName, value: unknown): FieldProblem | undefined {
  const check = CHECKS[part] as Check<unknown> | undefined;
  return check?.(value, []).find(({ severity = 'error' }) => severity === 'error');
}

/** Returns a block with another schema of one field. It has no name: that belongs to the block of resources. */
function changed(block: SchemaNode, name: string, change: (field: SchemaNode) => SchemaNode): SchemaNode {
  const properties = { ...block.properties, [name]: change(block.properties?.[name] ?? {}) };
  return Object.fromEntries(Object.entries({ ...block, properties }).filter(([key]) => key !== 'title'));
}
