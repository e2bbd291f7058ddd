import { Server, ServerCredentials, type Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { grpcService, message } from '../../src/grpc/definitions.ts';
import { SecretDiscovery, SECRET_TYPE } from '../../src/source/sds-protocol.ts';

/** A request as a server receives it. */
export interface Requested {
  readonly version_info: string;
  readonly node: { readonly id: string; readonly cluster: string } | null;
  readonly resource_names: readonly string[];
  readonly type_url: string;
  readonly response_nonce: string;
  readonly error_detail: { readonly code: number; readonly message: string } | null;
}

type Stream = ServerDuplexStream<Requested, object>;

/** What a server sends as the secret with a name; `undefined` sends nothing. */
export type Sent = object | Buffer | undefined;

const DATA_SOURCE = { inline_bytes: ['bytes', 2], inline_string: ['string', 3], filename: ['string', 1] } as const;
const Secrets = grpcService('test', 'Secrets', {
  DataSource: message(DATA_SOURCE),
  TlsCertificate: message({
    certificate_chain: ['DataSource', 1],
    private_key: ['DataSource', 2],
    password: ['DataSource', 3],
  }),
  CertificateValidationContext: message({ trusted_ca: ['DataSource', 1], crl: ['DataSource', 7] }),
  GenericSecret: message({ secret: ['DataSource', 1] }),
  Secret: message({
    name: ['string', 1],
    tls_certificate: ['TlsCertificate', 2],
    validation_context: ['CertificateValidationContext', 4],
    generic_secret: ['GenericSecret', 5],
  }),
  Secrets: { methods: { Get: { requestType: 'Secret', responseType: 'Secret' } } },
});
const encode = Secrets.service['Get']!.requestSerialize;

/** A server of secret discovery. */
export interface DiscoveryServer {
  readonly port: number;
  readonly requests: Requested[];
  /** Metadata of each stream. */
  readonly metadata: Metadata[];
  /** Number of open streams. */
  readonly open: number;
  /** Sends the secrets of each stream again. */
  push(): void;
  stop(): void;
}

export interface DiscoveryOptions {
  /** Returns what is sent as the secrets with these names; called for each response. */
  readonly secrets: () => Readonly<Record<string, Sent>>;
  /** Returns other resources of each response. Default: none. */
  readonly others?: () => readonly object[];
  /** Type of responses. Default: that of a secret. */
  readonly type?: string;
  /** Called for a rejected response; `again` sends the secrets again. */
  readonly onRejected?: (again: () => void) => void;
  readonly address?: string;
  readonly credentials?: ServerCredentials;
}

/** Starts a server that sends the secrets of a request with the first one of a stream, and with `push`. */
export async function startDiscovery({
  secrets,
  others = () => [],
  type = SECRET_TYPE,
  onRejected,
  address = '127.0.0.1:0',
  credentials = ServerCredentials.createInsecure(),
}: DiscoveryOptions): Promise<DiscoveryServer> {
  const server = new Server();
  const requests: Requested[] = [];
  const metadata: Metadata[] = [];
  const streams = new Map<Stream, readonly string[]>();
  let version = 0;

  function send(stream: Stream, names: readonly string[]): void {
    const found = names.flatMap((name) => {
      const sent = secrets()[name];
      if (sent === undefined) return [];
      return [{ type_url: SECRET_TYPE, value: Buffer.isBuffer(sent) ? sent : encode({ name, ...sent }) }];
    });
    const nonce = `n${++version}`;
    stream.write({ version_info: `v${version}`, resources: [...found, ...others()], type_url: type, nonce });
  }

  server.addService(SecretDiscovery.service, {
    StreamSecrets(stream: Stream) {
      metadata.push(stream.metadata);
      stream.on('data', (request: Requested) => {
        requests.push(request);
        if (request.error_detail) onRejected?.(() => send(stream, request.resource_names));
        if (request.response_nonce !== '') return;
        streams.set(stream, request.resource_names);
        send(stream, request.resource_names);
      });
      stream.on('error', () => {});
      stream.on('cancelled', () => streams.delete(stream));
      stream.on('end', () => streams.delete(stream));
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return {
    port,
    requests,
    metadata,
    get open() {
      return streams.size;
    },
    push() {
      for (const [stream, names] of streams) send(stream, names);
    },
    stop() {
      streams.clear();
      server.forceShutdown();
    },
  };
}

const inline = (text: string) => ({ inline_bytes: Buffer.from(text) });

/** A certificate with its key, as a server sends it. */
export function pairSecret({ cert, key }: { readonly cert: string; readonly key: string }): object {
  return { tls_certificate: { certificate_chain: inline(cert), private_key: inline(key) } };
}

/** Root certificates, as a server sends them. */
export function rootsSecret(ca: string): object {
  return { validation_context: { trusted_ca: { inline_string: ca } } };
}
