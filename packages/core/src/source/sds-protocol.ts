import { grpcService, message } from '../grpc/definitions.ts';
import type { Json } from './sds-secret.ts';

/** The type of a resource of secret discovery. */
export const SECRET_TYPE = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';

/** The part of Envoy's secret discovery, version 3, that is used here, with the names and numbers on the wire. */
export const SecretDiscovery = grpcService('envoy.service.secret.v3', 'SecretDiscoveryService', {
  Node: message({ id: ['string', 1], cluster: ['string', 2], user_agent_name: ['string', 6] }),
  Status: message({ code: ['int32', 1], message: ['string', 2] }),
  Any: message({ type_url: ['string', 1], value: ['bytes', 2] }),
  DiscoveryRequest: message({
    version_info: ['string', 1],
    node: ['Node', 2],
    resource_names: ['string', 3, 'repeated'],
    type_url: ['string', 4],
    response_nonce: ['string', 5],
    error_detail: ['Status', 6],
  }),
  DiscoveryResponse: message({
    version_info: ['string', 1],
    resources: ['Any', 2, 'repeated'],
    type_url: ['string', 4],
    nonce: ['string', 5],
  }),
  SecretDiscoveryService: {
    methods: {
      StreamSecrets: {
        requestType: 'DiscoveryRequest',
        requestStream: true,
        responseType: 'DiscoveryResponse',
        responseStream: true,
      },
    },
  },
});

/** Fields whose content is not read are bytes: their presence is enough to reject a secret. */
const Secrets = grpcService('envoy.extensions.transport_sockets.tls.v3', 'Secrets', {
  DataSource: message({
    filename: ['string', 1],
    inline_bytes: ['bytes', 2],
    inline_string: ['string', 3],
    environment_variable: ['string', 4],
    watched_directory: ['bytes', 5],
  }),
  TlsCertificate: message({
    certificate_chain: ['DataSource', 1],
    private_key: ['DataSource', 2],
    password: ['bytes', 3],
    ocsp_staple: ['DataSource', 4],
    signed_certificate_timestamp: ['bytes', 5, 'repeated'],
    private_key_provider: ['bytes', 6],
    watched_directory: ['bytes', 7],
    pkcs12: ['bytes', 8],
  }),
  CertificateValidationContext: message({
    trusted_ca: ['DataSource', 1],
    verify_certificate_hash: ['bytes', 2, 'repeated'],
    verify_certificate_spki: ['bytes', 3, 'repeated'],
    require_signed_certificate_timestamp: ['bytes', 6],
    crl: ['bytes', 7],
    allow_expired_certificate: ['bool', 8],
    match_subject_alt_names: ['bytes', 9, 'repeated'],
    trust_chain_verification: ['int32', 10],
    watched_directory: ['bytes', 11],
    custom_validator_config: ['bytes', 12],
    ca_certificate_provider_instance: ['bytes', 13],
    only_verify_leaf_cert_crl: ['bool', 14],
    match_typed_subject_alt_names: ['bytes', 15, 'repeated'],
    max_verify_depth: ['bytes', 16],
    system_root_certs: ['bytes', 17],
    auto_sni_san_match: ['bool', 18],
  }),
  Secret: message({
    name: ['string', 1],
    tls_certificate: ['TlsCertificate', 2],
    validation_context: ['CertificateValidationContext', 4],
  }),
  Secrets: { methods: { Get: { requestType: 'Secret', responseType: 'Secret' } } },
});

/** Returns the message of a secret with the fields that are set. Throws an `Error` for malformed bytes. */
export function decodeSecret(bytes: Buffer): Json {
  return withoutDefaults(Secrets.service['Get']!.requestDeserialize(bytes)) as Json;
}

function withoutDefaults(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value) || Array.isArray(value)) return value;
  const set = Object.entries(value).filter(([, field]) => !isDefault(field));
  return Object.fromEntries(set.map(([name, field]) => [name, withoutDefaults(field)]));
}

/** Returns true for the value of a field that was not sent. */
function isDefault(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value) || Buffer.isBuffer(value)) return value.length === 0;
  return value === null || value === undefined || value === 0 || value === false;
}
