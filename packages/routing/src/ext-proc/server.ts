import { Metadata, type CallOptions } from '@grpc/grpc-js';
import { createGrpcClients, toStruct, type GrpcClients } from '@edge-gateway/core/grpc';
import type { ProcessorStream } from './processing-call.ts';
import type { ProcessingRequest } from './messages.ts';
import { ExternalProcessor } from './protocol.ts';
import type { ProcessorSettings } from './settings.ts';

const PATH = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Creates the clients of a server. */
export function createServerClients(
  find: Parameters<typeof createGrpcClients>[0],
  options: Omit<Parameters<typeof createGrpcClients>[1], 'maxBytes'>,
): GrpcClients {
  return createGrpcClients(find, { ...options, maxBytes: MAX_MESSAGE_BYTES });
}

/** Opens a call to the next endpoint. Throws if there is none. */
export function openCall(clients: GrpcClients, { callTimeoutMs, metadata }: ProcessorSettings): ProcessorStream {
  const sent = new Metadata();
  for (const [key, value] of metadata) sent.add(key, value);
  const { responseDeserialize } = ExternalProcessor.service['Process']!;
  const options: CallOptions = callTimeoutMs === undefined ? {} : { deadline: Date.now() + callTimeoutMs };
  const { client } = clients.client();
  return client.makeBidiStreamRequest(PATH, serialize, responseDeserialize, sent, options) as ProcessorStream;
}

function serialize({ metadata, ...request }: ProcessingRequest): Buffer {
  const { requestSerialize } = ExternalProcessor.service['Process']!;
  if (!metadata) return requestSerialize(request);
  const structs = Object.entries(metadata).map(([namespace, values]) => [namespace, toStruct(values)]);
  return requestSerialize({ ...request, metadataContext: { filterMetadata: Object.fromEntries(structs) } });
}
