import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type AddressInfo } from 'node:net';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createContext, silentLoggers, type SnapshotUpstream } from '@edge-gateway/core';
import { expect } from 'chai';
import { createListeners } from '../../src/index.ts';
import { createRouter } from '../../src/router.ts';
import { endpointOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';
import { frameOf } from '../../src/transcode/frames.ts';
import { shopDescriptors } from './shop.ts';
import { startShop, type ShopServer } from './shop-server.ts';

const BINARY = Buffer.from(shopDescriptors()).toString('base64');

interface Gateway {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves an upstream on this port with a transcoder, on a listener for HTTP/1.1 and HTTP/2. */
async function startGateway(port: number): Promise<Gateway> {
  const context = createContext({ log: silentLoggers });
  const router = createRouter({ context, accessLog: 'none' });
  const listeners = createListeners({
    router,
    context,
    host: '127.0.0.1',
    portOf: () => 0,
  });
  const upstream = upstreamOf([endpointOf(port)]);
  const grpcJsonTranscoder = { services: ['shop.Shop'], protoDescriptorBin: BINARY };
  const up: SnapshotUpstream = {
    ...upstream,
    spec: { static: { ...upstream.spec.static, serviceSpec: { grpcJsonTranscoder } } },
  };
  const transcoder = { upstream: 'up_gw-system', version: '1' };
  const destinations = [{ upstream: 'up_gw-system', weight: 1, options: {}, transcoder }];
  const snapshot = snapshotOf([hostOf([routeOf({ action: { type: 'forward', destinations } })])], [up]);
  router.apply(snapshot);
  const [opened] = await listeners.apply(snapshot);
  return {
    port: opened!.port!,
    async close() {
      await listeners.close();
      await router.close();
    },
  };
}

describe('gRPC-JSON transcoding', () => {
  describe('for clients of other versions', () => {
    let shop: ShopServer;
    let gateway: Gateway;

    before(async () => {
      shop = await startShop();
      gateway = await startGateway(shop.port);
    });
    after(async () => {
      await gateway.close();
      shop.close();
    });

    /** Sends a request over HTTP/2; returns its head, body and trailers. */
    async function ask(headers: Record<string, string>, body?: string) {
      const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
      try {
        const stream = session.request(headers, { endStream: body === undefined });
        if (body !== undefined) stream.end(body);
        let text = '';
        let trailers: object = {};
        stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        stream.on('trailers', (received) => (trailers = received));
        const [head] = (await once(stream, 'response')) as [Record<string, string>];
        if (!stream.readableEnded) await once(stream, 'end');
        return { head, body: text, trailers };
      } finally {
        session.close();
      }
    }

    it('returns JSON over HTTP/2, without trailers', async () => {
      const { head, body, trailers } = await ask({ ':path': '/v1/books/7' });
      expect(head).to.include({ ':status': 200, 'content-type': 'application/json', 'grpc-status': '0' });
      expect([body, { ...trailers }]).to.deep.equal(['{"id":"7"}', {}]);
      const added = await ask(
        { ':method': 'POST', ':path': '/v1/shelves/a/books', 'content-type': 'application/json' },
        '{"id": 1}',
      );
      expect(added.body).to.equal('{"shelf":"shelves/a","book":{"id":"1"}}');
      expect((await ask({ ':path': '/v1/fail/5' })).head[':status']).to.equal(404);
      const streamed = await ask({ ':path': '/v1/watch?after=2' });
      expect([streamed.body, { ...streamed.trailers }]).to.deep.equal(['[{"id":"1"},{"id":"2"}]', {}]);
    });

    it('returns JSON over HTTP/1.0', async () => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.end('GET /v1/books/7 HTTP/1.0\r\nhost: a.example\r\n\r\n');
      let text = '';
      for await (const chunk of socket.setEncoding('utf8')) text += chunk as string;
      // Listeners reject the version by default, but never answer with frames.
      expect(text).to.match(/^HTTP\/1\.\d (?:200|426) /);
      expect(text).not.to.contain('application/grpc');
    });
  });

  describe('of a hostile server', () => {
    let gateway: Gateway | undefined;
    let close: (() => void) | undefined;

    afterEach(async () => {
      await gateway?.close();
      close?.();
      gateway = undefined;
    });

    async function asked(path: string, reply: (stream: ServerHttp2Stream) => void): Promise<string> {
      const server = createHttp2Server();
      const sessions = new Set<{ destroy(): void }>();
      server.on('session', (session) => void sessions.add(session));
      server.on('stream', (stream) => reply(stream.on('error', () => {})));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      close = () => {
        for (const session of sessions) session.destroy();
        server.close();
      };
      gateway = await startGateway((server.address() as AddressInfo).port);
      try {
        const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`);
        return `${response.status} ${await response.text()}`;
      } catch {
        return 'aborted';
      }
    }

    const head = { ':status': 200, 'content-type': 'application/grpc' };
    const ended = (frames: Buffer, trailers?: Record<string, string>) => (stream: ServerHttp2Stream) => {
      stream.respond(head, { waitForTrailers: trailers !== undefined });
      stream.on('wantTrailers', () => stream.sendTrailers(trailers!));
      stream.end(frames);
    };
    const OK = { 'grpc-status': '0' };
    const INVALID = /^502 \{"code":"ERR_ROUTING_GRPC_JSON_RESPONSE","message":"the request could not be processed",/;

    const replies: Readonly<Record<string, readonly [reply: (stream: ServerHttp2Stream) => void, expected: RegExp]>> = {
      'a message that announces 4 GiB': [ended(Buffer.from([0, 255, 255, 255, 255, 1]), OK), INVALID],
      'a compressed message': [ended(Buffer.from([1, 0, 0, 0, 0]), OK), INVALID],
      'half a message': [ended(Buffer.from([0, 0, 0, 0, 9, 1]), OK), INVALID],
      'no message': [ended(Buffer.alloc(0), OK), INVALID],
      'a message of another type': [ended(frameOf(Buffer.from([0xff, 0xff])), OK), INVALID],
      'no status': [ended(frameOf(Buffer.alloc(0))), INVALID],
      'a status that is no number': [ended(frameOf(Buffer.alloc(0)), { 'grpc-status': '0, 0' }), INVALID],
      'a message that is larger than the buffer of the listener': [
        ended(frameOf(Buffer.alloc(2_000_000)), OK),
        INVALID,
      ],
      'a response that is no gRPC': [
        (stream) => {
          stream.respond({ ':status': 503, 'content-type': 'text/plain' });
          stream.end('busy');
        },
        /^503 busy$/,
      ],
      'a message without fields': [ended(frameOf(Buffer.alloc(0)), OK), /^200 \{\}$/],
      'a reset before the response': [(stream) => stream.close(2), /^503 /],
      'a reset within a message': [
        (stream) => {
          stream.respond(head);
          stream.write(Buffer.from([0, 0, 0, 0, 9, 1]), () => stream.close(2));
        },
        /^(?:aborted|50[23] .*)$/,
      ],
    };
    for (const [name, [reply, expected]] of Object.entries(replies)) {
      it(`survives ${name}`, async () => expect(await asked('/v1/books/7', reply)).to.match(expected));
    }

    it('breaks off a stream that ends without a status', async () => {
      const reply = ended(Buffer.concat([frameOf(Buffer.alloc(0)), frameOf(Buffer.alloc(0))]));
      expect(await asked('/v1/watch', reply)).to.equal('aborted');
    });
  });
});
