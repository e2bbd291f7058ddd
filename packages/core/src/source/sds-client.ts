import { hostname } from 'node:os';
import { Metadata, type ClientDuplexStream, type ServiceClientConstructor } from '@grpc/grpc-js';
import type { Secrets, SnapshotUpstream } from '../contract/snapshot.ts';
import { createGrpcClients } from '../grpc/upstream-clients.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import type { Sds } from '../schema/listener/ssl-config.ts';
import { sdsServerOf, sdsSourceOf } from '../security/sds-target.ts';
import { readRegularFile } from './read-file.ts';
import { decodeSecret, SecretDiscovery, SECRET_TYPE } from './sds-protocol.ts';
import type { Json } from './sds-secret.ts';

/** Maximum size of a response and of a token, in bytes. */
const MAX_RESPONSE_BYTES = 1_048_576;
const MAX_TOKEN_BYTES = 65_536;
/** Servers must respond to a ping after this time, in milliseconds: a lost connection would never deliver new certificates. */
const KEEPALIVE_MS = 300_000;

interface AnyMessage {
  readonly type_url: string;
  readonly value: Buffer;
}

/** A response of a server. */
export interface DiscoveryResponse {
  readonly version_info: string;
  readonly resources: readonly AnyMessage[];
  readonly type_url: string;
  readonly nonce: string;
}

/** The fields of a request besides the name of the secret. */
export interface DiscoveryRequest {
  readonly version_info: string;
  readonly response_nonce: string;
  readonly error_detail?: { readonly code: number; readonly message: string };
}

export type DiscoveryStream = ClientDuplexStream<object, DiscoveryResponse>;

export interface SdsClientParts {
  readonly secrets: Secrets;
  /** Returns an upstream of the newest snapshots by its name there. */
  readonly findUpstream: (name: string) => SnapshotUpstream | undefined;
}

/** Opens streams to one server of secret discovery. */
export type SdsClient = ReturnType<typeof createSdsClient>;

/** Creates a client of the server that `sds` names, with its credentials. Connects with the first stream. */
export function createSdsClient(sds: Sds, { secrets, findUpstream }: SdsClientParts) {
  const server = sdsServerOf(sds)!;
  const fixed = server.upstream === undefined ? upstreamAt(sdsSourceOf(sds), server) : undefined;
  const find = (): SnapshotUpstream | undefined => fixed ?? findUpstream(server.upstream!);
  const clients = createGrpcClients(find, { secrets, maxBytes: MAX_RESPONSE_BYTES, keepaliveMs: KEEPALIVE_MS });
  const { StreamSecrets } = (SecretDiscovery as ServiceClientConstructor).service;
  const { path, requestSerialize, responseDeserialize } = StreamSecrets!;

  return {
    /** Opens a stream. Throws an `Error` if the upstream or the token is missing. */
    open(): DiscoveryStream {
      const { client } = clients.client();
      return client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadataOf(sds));
    },
    close: () => clients.close(),
  };
}

/** Returns the message of a request for one secret. */
export function requestFor(name: string, request: DiscoveryRequest): object {
  const node = { id: hostname(), cluster: 'gateway', user_agent_name: 'edge-gateway' };
  return { ...request, node, resource_names: [name], type_url: SECRET_TYPE };
}

/** Returns the secrets of a response. Throws an `Error` for other resources; its message contains no part of them. */
export function secretsOfResponse({ type_url, resources }: DiscoveryResponse): Json[] {
  if (type_url !== SECRET_TYPE) throw new Error(`the response has the type '${type_url.slice(0, 200)}'`);
  return resources.map((resource) => {
    if (resource.type_url !== SECRET_TYPE)
      throw new Error(`the response contains a resource of type '${resource.type_url.slice(0, 200)}'`);
    try {
      return decodeSecret(resource.value);
    } catch {
      throw new Error('the response contains a malformed secret');
    }
  });
}

function upstreamAt(name: string, { address, port }: { address: string; port: number }): SnapshotUpstream {
  const ref = { name, namespace: '' };
  return { name, ref, spec: {}, endpoints: [{ address, port, weight: 1 }], tls: false };
}

/** Reads the token of each stream anew, because tokens are rotated. */
function metadataOf({ callCredentials }: Sds): Metadata {
  const metadata = new Metadata();
  const { tokenFileName, header } = callCredentials?.fileCredentialSource ?? {};
  if (!tokenFileName) return metadata;
  metadata.set(header || DEFAULTS.sdsTokenHeader, readToken(tokenFileName));
  return metadata;
}

function readToken(path: string): string {
  let token;
  try {
    token = readRegularFile(path, MAX_TOKEN_BYTES).toString('latin1').trim();
  } catch (cause) {
    throw new Error(`the token file ${path} cannot be read`, { cause });
  }
  if (!/^[\x20-\x7e]+$/.test(token)) throw new Error(`the token file ${path} contains no token of visible ASCII`);
  return token;
}
