import { isIP } from 'node:net';
import {
  secretText,
  type SecretValue,
  type Secrets,
  type SnapshotUpstream,
  type TlsConfiguration,
} from '../contract/snapshot.ts';
import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import type { ResourceRef } from '../resource/resource.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import { sdsFileOf } from '../security/sds-target.ts';
import { message, typed, type EnvoyMessage } from './message.ts';
import type { MessageContext } from './translation-context.ts';

const TLS = 'envoy.extensions.transport_sockets.tls.v3';

type DownstreamConfig = TlsConfiguration['sslConfig'];
type UpstreamConfig = NonNullable<SnapshotUpstream['spec']['sslConfig']>;
type Config = DownstreamConfig & UpstreamConfig;
type Sds = NonNullable<UpstreamConfig['sds']>;

/** Resources that come over the same stream. */
const ADS: EnvoyMessage = { ads: {}, resource_api_version: 'V3' };

/** Name under which a TLS secret is listed among the secrets: `<namespace>.<name>`. */
export function secretName({ namespace, name }: ResourceRef): string {
  return `${namespace}.${name}`;
}

/** Returns the secret that an upstream's TLS names; without a namespace it is the upstream's own. */
export function upstreamSecretRef({ ref, spec }: SnapshotUpstream): ResourceRef | undefined {
  const { name, namespace } = spec.sslConfig?.secretRef ?? {};
  return name ? { name, namespace: namespace || ref.namespace } : undefined;
}

/** Returns the name under which Envoys receive a certificate: that of its Secret, its files or its discovered secret. */
export function servedSecretName({ secretRef, sslFiles, sds }: Config): string | undefined {
  if (secretRef?.name)
    return secretName({ name: secretRef.name, namespace: secretRef.namespace || gatewayNamespace() });
  if (sds) return JSON.stringify({ sds });
  return sslFiles && Object.values(sslFiles).some(Boolean) ? JSON.stringify({ files: sslFiles }) : undefined;
}

/** Returns the content of a certificate; `undefined` if there is none. */
export function certificateOf({ secretRef, sslFiles, sds }: Config, secrets: Secrets): SecretValue | undefined {
  if (secretRef?.name)
    return secrets.get({ name: secretRef.name, namespace: secretRef.namespace || gatewayNamespace() });
  return sds ? secrets.sds?.(sds) : sslFiles && secrets.files?.(sslFiles);
}

/** TLS towards clients. */
export function downstreamTls(config: DownstreamConfig, context: MessageContext): EnvoyMessage {
  const asksForCertificate = requiresClientCertificate(config, context);
  return socket('DownstreamTlsContext', {
    common_tls_context: message({
      ...common(config, context),
      ...(context.services && { alpn_protocols: offeredToClients(config) }),
      ...(asksForCertificate && validation(config, context)),
    }),
    require_client_certificate: asksForCertificate || undefined,
    ...(context.services &&
      config.disableTlsSessionResumption && {
        disable_stateless_session_resumption: true,
        disable_stateful_session_resumption: true,
      }),
  });
}

/** Returns true if clients must have a certificate. */
export function requiresClientCertificate(config: DownstreamConfig, { secrets }: MessageContext): boolean {
  return !config.oneWayTls && hasRoots(config, secrets);
}

function offeredToClients({ alpnProtocols }: DownstreamConfig): readonly string[] {
  return (alpnProtocols ?? ['h2', 'http/1.1']).filter((protocol) => protocol !== 'allow_empty');
}

/** TLS towards an upstream; `undefined` for a plain one. */
export function upstreamTls(upstream: SnapshotUpstream, context: MessageContext): EnvoyMessage | undefined {
  if (!upstream.tls) return undefined;
  const { services, secrets } = context;
  const { sslConfig = {} } = upstream.spec;
  const { oneWayTls, ...others } = sslConfig;
  const config: Config = { ...others, secretRef: upstreamSecretRef(upstream) };
  const names = namesOf(upstream);
  const verified = services && !config.verifySubjectAltName?.length ? names.certificate : nameMatchers(config);
  const roots = hasRoots(config, secrets)
    ? validation(config, context, verified)
    : { validation_context: { system_root_certs: {}, ...verified } };
  return socket('UpstreamTlsContext', {
    common_tls_context: message({
      ...common(config, context, services && oneWayTls && !config.sds),
      ...roots,
      ...(services && { alpn_protocols: undefined }),
    }),
    sni: services ? names.server : (config.sni ?? upstream.endpoints.find(({ sni }) => sni)?.sni),
    allow_renegotiation: services ? undefined : config.allowRenegotiation,
  });
}

/** Returns the server names of the endpoints of an upstream; `''` for those without any. */
export function serverNamesOf({ spec, endpoints }: SnapshotUpstream): ReadonlySet<string> {
  const { sslConfig, static: hosts } = spec;
  const named = (name: string): string => (isIP(name) === 0 && !/^[/@]/.test(name) ? name : '');
  const automatic = hosts?.autoSniRewrite !== false;
  return new Set(
    endpoints.map(
      ({ sni, address, hostname = address }) => sni || sslConfig?.sni || (automatic ? named(hostname) : ''),
    ),
  );
}

/** Returns the names that certificates of the endpoints of an upstream are compared with, without `verifySubjectAltName`. */
export function certificateNamesOf(upstream: SnapshotUpstream): ReadonlySet<string> {
  const [server = ''] = serverNamesOf(upstream);
  if (server !== '') return new Set([server]);
  return new Set(upstream.endpoints.map(({ address, hostname }) => hostname ?? address));
}

function namesOf(upstream: SnapshotUpstream): {
  readonly server: string | undefined;
  readonly certificate: EnvoyMessage;
} {
  const [server = ''] = serverNamesOf(upstream);
  const matchers = [...certificateNamesOf(upstream)].map((exact) => ({
    san_type: isIP(exact) === 0 ? 'DNS' : 'IP_ADDRESS',
    matcher: { exact },
  }));
  return { server: server || undefined, certificate: message({ match_typed_subject_alt_names: matchers }) };
}

function hasRoots({ sslFiles, sds, secretRef }: Config, secrets: Secrets): boolean {
  return Boolean(
    sslFiles?.rootCa ||
    sds?.validationContextName ||
    (secretRef && secretText(secrets.get(secretRef as ResourceRef), 'ca.crt')),
  );
}

function socket(context: string, fields: EnvoyMessage): EnvoyMessage {
  return { name: 'envoy.transport_sockets.tls', typed_config: typed(`${TLS}.${context}`, fields) };
}

function common(config: Config, { services, secrets }: MessageContext, isAnonymous?: boolean): EnvoyMessage {
  const { secretRef, sslFiles, sds, parameters, alpnProtocols } = config;
  const served = services && servedSecretName(config);
  const hasCertificate = served !== undefined && certificateOf(config, secrets)?.data['tls.crt'] !== undefined;
  return {
    tls_params: parameters && {
      tls_minimum_protocol_version: parameters.minimumProtocolVersion,
      tls_maximum_protocol_version: parameters.maximumProtocolVersion,
      cipher_suites: parameters.cipherSuites,
      ecdh_curves: parameters.ecdhCurves,
    },
    tls_certificate_sds_secret_configs: services
      ? hasCertificate && !isAnonymous
        ? [{ name: served, sds_config: ADS }]
        : []
      : [
          ...(secretRef ? [{ name: secretName(secretRef as ResourceRef) }] : []),
          ...(sds?.certificatesSecretName ? [sdsConfig(sds.certificatesSecretName, sds)] : []),
        ],
    tls_certificates:
      sslFiles?.tlsCert && !services
        ? [{ certificate_chain: { filename: sslFiles.tlsCert }, private_key: { filename: sslFiles.tlsKey } }]
        : [],
    alpn_protocols: alpnProtocols,
  };
}

function validation(
  config: Config,
  { services }: MessageContext,
  names: EnvoyMessage = nameMatchers(config),
): EnvoyMessage {
  if (services) {
    const sds = { name: `${servedSecretName(config)}.ca`, sds_config: ADS };
    return {
      combined_validation_context: { default_validation_context: names, validation_context_sds_secret_config: sds },
    };
  }
  const own = message({
    trusted_ca: config.sslFiles?.rootCa ? { filename: config.sslFiles.rootCa } : undefined,
    ...names,
  });
  const { secretRef, sds: discovered } = config;
  if (!secretRef && !discovered) return { validation_context: own };
  const sds = secretRef
    ? { name: `${secretName(secretRef as ResourceRef)}.ca` }
    : sdsConfig(discovered?.validationContextName, discovered);
  return {
    combined_validation_context: { default_validation_context: own, validation_context_sds_secret_config: sds },
  };
}

/** A secret of a secret discovery file or server. */
function sdsConfig(name: string | undefined, sds: Sds = {}): EnvoyMessage {
  const path = sdsFileOf(sds);
  const source =
    path === undefined
      ? { api_config_source: { api_type: 'GRPC', transport_api_version: 'V3', grpc_services: [grpcService(sds)] } }
      : { path_config_source: { path } };
  return message({ name, sds_config: { ...source, resource_api_version: 'V3' } });
}

function grpcService({ targetUri, clusterName, callCredentials }: Sds): EnvoyMessage {
  if (!callCredentials) return { envoy_grpc: { cluster_name: clusterName || DEFAULTS.sdsClusterName } };
  return { google_grpc: { target_uri: targetUri || DEFAULTS.sdsTargetUri, stat_prefix: 'sds' } };
}

function nameMatchers({ verifySubjectAltName = [] }: UpstreamConfig): EnvoyMessage {
  const matchers = verifySubjectAltName.map((exact) => ({ san_type: 'DNS', matcher: { exact } }));
  return message({ match_typed_subject_alt_names: matchers });
}
