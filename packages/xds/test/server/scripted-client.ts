import { Client, credentials, type ClientDuplexStream } from '@grpc/grpc-js';
import { toStruct } from '@edge-gateway/core/grpc';
import {
  AggregatedDiscovery,
  type DeltaRequest,
  type DeltaResponse,
  type NodeMessage,
  type WorldRequest,
  type WorldResponse,
} from '../../src/protocol/discovery.ts';
import { until } from '../planes.ts';

export const NODE: NodeMessage = { id: 'scripted', metadata: toStruct({ role: 'gw-system~gateway-proxy' }) };

type Method = 'DeltaAggregatedResources' | 'StreamAggregatedResources';

/** A client that does what a test says, and nothing else. */
function open<Request extends object, Response>(port: number, method: Method) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': -1,
  });
  const { path, requestSerialize, responseDeserialize } = AggregatedDiscovery[method]!;
  const stream: ClientDuplexStream<Request, Response> = client.makeBidiStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
  );
  const responses: Response[] = [];
  let ended: { code: number; details: string } | undefined;
  stream.on('data', (response: Response) => responses.push(response));
  stream.on('error', () => {});
  stream.on('status', (status: { code: number; details: string }) => (ended = status));
  return {
    stream,
    responses,
    send: (request: Request) => void stream.write(request),
    /** Resolves with the response at this place. */
    async response(i: number): Promise<Response> {
      await until(() => responses.length > i || ended !== undefined, `response ${i}`);
      return responses[i]!;
    },
    async ended() {
      await until(() => ended !== undefined, 'the end of the stream');
      return ended!;
    },
    close() {
      stream.cancel();
      client.close();
    },
  };
}

export const openDelta = (port: number) => open<DeltaRequest, DeltaResponse>(port, 'DeltaAggregatedResources');
export const openWorld = (port: number) => open<WorldRequest, WorldResponse>(port, 'StreamAggregatedResources');
