import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { ExternalProcessor } from '../../src/ext-proc/protocol.ts';

/** A message as a processing server receives it. */
export interface Received {
  readonly request:
    | 'requestHeaders'
    | 'responseHeaders'
    | 'requestBody'
    | 'responseBody'
    | 'requestTrailers'
    | 'responseTrailers';
  readonly requestHeaders?: { headers: { headers: { key: string; rawValue: Buffer }[] }; endOfStream: boolean };
  readonly responseHeaders?: Received['requestHeaders'];
  readonly requestBody?: { body: Buffer; endOfStream: boolean };
  readonly responseBody?: Received['requestBody'];
  readonly requestTrailers?: { trailers: { headers: { key: string; rawValue: Buffer }[] } };
  readonly responseTrailers?: Received['requestTrailers'];
  readonly metadataContext: { filterMetadata: Record<string, unknown> } | null;
}

export type Call = ServerDuplexStream<Received, object>;

export interface ProcessingServer {
  readonly port: number;
  /** Each message: its part, with the path or status of a head, or the body. */
  readonly seen: string[];
  readonly calls: Call[];
  stop(): void;
}

/** Returns the headers of a message by name. */
export function headersOf(message: Received): Record<string, string> {
  const { headers } = (message.requestHeaders ?? message.responseHeaders)!.headers;
  return Object.fromEntries(headers.map(({ key, rawValue }) => [key, rawValue.toString()]));
}

/** Starts a server that responds to each message with what `answer` returns; `undefined` sends nothing. */
export async function startProcessor(
  answer: (message: Received, call: Call) => object | undefined,
): Promise<ProcessingServer> {
  const server = new Server();
  const seen: string[] = [];
  const calls: Call[] = [];
  server.addService(ExternalProcessor.service, {
    Process(call: Call) {
      calls.push(call);
      call.on('data', (message: Received) => {
        seen.push(describeMessage(message));
        const response = answer(message, call);
        if (response) call.write(response);
      });
      call.on('end', () => call.end());
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { port, seen, calls, stop: () => server.forceShutdown() };
}

function describeMessage(message: Received): string {
  const body = message.requestBody ?? message.responseBody;
  if (body) return `${message.request} ${body.body.toString()}${body.endOfStream ? '.' : ''}`;
  const trailers = (message.requestTrailers ?? message.responseTrailers)?.trailers.headers;
  if (trailers) return `${message.request} ${trailers.map(({ key, rawValue }) => `${key}=${rawValue.toString()}`)}`;
  const headers = headersOf(message);
  return `${message.request} ${headers[':path'] ?? headers[':status']}`;
}

/** A mutation that sets headers, and removes some. */
export function mutation(set: Record<string, string>, removeHeaders: readonly string[] = []): object {
  const setHeaders = Object.entries(set).map(([key, value]) => ({
    header: { key, rawValue: Buffer.from(value) },
    append: { value: false },
  }));
  return { setHeaders, removeHeaders };
}
