import type { ResourceRef, SnapshotUpstream, TlsConfiguration } from '@edge-gateway/core';
import { message, typed, type Message } from './json.ts';

const TLS = 'envoy.extensions.transport_sockets.tls.v3';

type DownstreamConfig = TlsConfiguration['sslConfig'];
type UpstreamConfig = NonNullable<SnapshotUpstream['spec']['sslConfig']>;

/** Name under which a TLS secret is listed among the secrets: `<namespace>.<name>`. */
export function secretName({ namespace, name }: ResourceRef): string {
  return `${namespace}.${name}`;
}

/** TLS towards clients. */
export function downstreamTls(config: DownstreamConfig, hasCa: boolean): Message {
  return socket('DownstreamTlsContext', {
    common_tls_context: message({ ...common(config), ...validation(config, hasCa && !config.oneWayTls) }),
    require_client_certificate: (hasCa && !config.oneWayTls) || undefined,
  });
}

/** TLS towards an upstream; `undefined` for a plain one. */
export function upstreamTls({ spec, ref, tls, endpoints }: SnapshotUpstream, hasCa: boolean): Message | undefined {
  if (!tls) return undefined;
  const config = inNamespace(spec.sslConfig ?? {}, ref.namespace);
  return socket('UpstreamTlsContext', {
    common_tls_context: message({ ...common(config), ...(hasCa ? validation(config, hasCa) : systemRoots(config)) }),
    sni: config.sni ?? endpoints.find(({ sni }) => sni)?.sni,
    allow_renegotiation: config.allowRenegotiation,
  });
}

function socket(context: string, fields: Message): Message {
  return { name: 'envoy.transport_sockets.tls', typed_config: typed(`${TLS}.${context}`, fields) };
}

function common({ secretRef, sslFiles, parameters, alpnProtocols }: DownstreamConfig & UpstreamConfig): Message {
  return {
    tls_params: parameters && {
      tls_minimum_protocol_version: parameters.minimumProtocolVersion,
      tls_maximum_protocol_version: parameters.maximumProtocolVersion,
      cipher_suites: parameters.cipherSuites,
      ecdh_curves: parameters.ecdhCurves,
    },
    tls_certificate_sds_secret_configs: secretRef ? [{ name: secretName(secretRef as ResourceRef) }] : [],
    tls_certificates: sslFiles?.tlsCert
      ? [{ certificate_chain: { filename: sslFiles.tlsCert }, private_key: { filename: sslFiles.tlsKey } }]
      : [],
    alpn_protocols: alpnProtocols,
  };
}

function validation(config: DownstreamConfig & UpstreamConfig, wanted: boolean): Message {
  if (!wanted) return {};
  const own = message({
    trusted_ca: config.sslFiles?.rootCa ? { filename: config.sslFiles.rootCa } : undefined,
    ...nameMatchers(config),
  });
  if (!config.secretRef) return { validation_context: own };
  const name = secretName(config.secretRef as ResourceRef);
  const sds = { name: `${name}.ca` };
  return {
    combined_validation_context: { default_validation_context: own, validation_context_sds_secret_config: sds },
  };
}

/** Without root certificates of its own, a server is checked against those the runtime trusts. */
function systemRoots(config: UpstreamConfig): Message {
  return { validation_context: { system_root_certs: {}, ...nameMatchers(config) } };
}

function nameMatchers({ verifySubjectAltName = [] }: UpstreamConfig): Message {
  const matchers = verifySubjectAltName.map((exact) => ({ san_type: 'DNS', matcher: { exact } }));
  return message({ match_typed_subject_alt_names: matchers });
}

function inNamespace(config: UpstreamConfig, namespace: string): UpstreamConfig {
  return config.secretRef ? { ...config, secretRef: { namespace, ...config.secretRef } } : config;
}
