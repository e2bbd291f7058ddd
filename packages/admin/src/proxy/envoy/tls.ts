import {
  DEFAULTS,
  sdsFileOf,
  secretText,
  type ResourceRef,
  type Secrets,
  type SnapshotUpstream,
  type TlsConfiguration,
} from '@edge-gateway/core';
import { upstreamSecretRef } from '../certificates.ts';
import { message, typed, type Message } from './json.ts';

const TLS = 'envoy.extensions.transport_sockets.tls.v3';

type DownstreamConfig = TlsConfiguration['sslConfig'];
type UpstreamConfig = NonNullable<SnapshotUpstream['spec']['sslConfig']>;
type Sds = NonNullable<UpstreamConfig['sds']>;

/** Name under which a TLS secret is listed among the secrets: `<namespace>.<name>`. */
export function secretName({ namespace, name }: ResourceRef): string {
  return `${namespace}.${name}`;
}

/** TLS towards clients. */
export function downstreamTls(config: DownstreamConfig, secrets: Secrets): Message {
  const asksForCertificate = !config.oneWayTls && hasRoots(config, secrets);
  return socket('DownstreamTlsContext', {
    common_tls_context: message({ ...common(config), ...(asksForCertificate && validation(config)) }),
    require_client_certificate: asksForCertificate || undefined,
  });
}

/** TLS towards an upstream; `undefined` for a plain one. */
export function upstreamTls(upstream: SnapshotUpstream, secrets: Secrets): Message | undefined {
  if (!upstream.tls) return undefined;
  const { sslConfig = {} } = upstream.spec;
  const config = { ...sslConfig, secretRef: upstreamSecretRef(upstream) };
  const roots = hasRoots(config, secrets) ? validation(config) : systemRoots(config);
  return socket('UpstreamTlsContext', {
    common_tls_context: message({ ...common(config), ...roots }),
    sni: config.sni ?? upstream.endpoints.find(({ sni }) => sni)?.sni,
    allow_renegotiation: config.allowRenegotiation,
  });
}

function hasRoots({ sslFiles, sds, secretRef }: DownstreamConfig & UpstreamConfig, secrets: Secrets): boolean {
  return Boolean(
    sslFiles?.rootCa ||
    sds?.validationContextName ||
    (secretRef && secretText(secrets.get(secretRef as ResourceRef), 'ca.crt')),
  );
}

function socket(context: string, fields: Message): Message {
  return { name: 'envoy.transport_sockets.tls', typed_config: typed(`${TLS}.${context}`, fields) };
}

function common({ secretRef, sslFiles, sds, parameters, alpnProtocols }: DownstreamConfig & UpstreamConfig): Message {
  return {
    tls_params: parameters && {
      tls_minimum_protocol_version: parameters.minimumProtocolVersion,
      tls_maximum_protocol_version: parameters.maximumProtocolVersion,
      cipher_suites: parameters.cipherSuites,
      ecdh_curves: parameters.ecdhCurves,
    },
    tls_certificate_sds_secret_configs: [
      ...(secretRef ? [{ name: secretName(secretRef as ResourceRef) }] : []),
      ...(sds?.certificatesSecretName ? [sdsConfig(sds.certificatesSecretName, sds)] : []),
    ],
    tls_certificates: sslFiles?.tlsCert
      ? [{ certificate_chain: { filename: sslFiles.tlsCert }, private_key: { filename: sslFiles.tlsKey } }]
      : [],
    alpn_protocols: alpnProtocols,
  };
}

function validation(config: DownstreamConfig & UpstreamConfig): Message {
  const own = message({
    trusted_ca: config.sslFiles?.rootCa ? { filename: config.sslFiles.rootCa } : undefined,
    ...nameMatchers(config),
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
function sdsConfig(name: string | undefined, sds: Sds = {}): Message {
  const path = sdsFileOf(sds);
  const source =
    path === undefined
      ? { api_config_source: { api_type: 'GRPC', transport_api_version: 'V3', grpc_services: [grpcService(sds)] } }
      : { path_config_source: { path } };
  return message({ name, sds_config: { ...source, resource_api_version: 'V3' } });
}

function grpcService({ targetUri, clusterName, callCredentials }: Sds): Message {
  if (!callCredentials) return { envoy_grpc: { cluster_name: clusterName || DEFAULTS.sdsClusterName } };
  return { google_grpc: { target_uri: targetUri || DEFAULTS.sdsTargetUri, stat_prefix: 'sds' } };
}

/** Without root certificates of its own, a server is checked against those the runtime trusts. */
function systemRoots(config: UpstreamConfig): Message {
  return { validation_context: { system_root_certs: {}, ...nameMatchers(config) } };
}

function nameMatchers({ verifySubjectAltName = [] }: UpstreamConfig): Message {
  const matchers = verifySubjectAltName.map((exact) => ({ san_type: 'DNS', matcher: { exact } }));
  return message({ match_typed_subject_alt_names: matchers });
}
