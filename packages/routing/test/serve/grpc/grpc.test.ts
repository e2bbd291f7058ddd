import { once } from 'node:events';
import { Metadata, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { closeAll, forEachHttp2Client, until } from '../../forward/harness.ts';
import { data, frameUpstream, head, reset } from '../../upstream/http2/frames.ts';
import { EchoClient, echoServer } from './echo-service.ts';
import { grpcGateway } from './gateway.ts';

forEachHttp2Client(() =>
  describe('gRPC', () => {
    afterEach(closeAll);

    it('passes a unary call with its metadata, in both directions and also binary', async () => {
      let received: Metadata | undefined;
      const port = await echoServer({
        unary(call, reply) {
          received = call.metadata;
          const initial = new Metadata();
          initial.set('x-both', 'initial');
          initial.set('x-bytes-bin', Buffer.from([0, 255, 1]));
          call.sendMetadata(initial);
          const trailing = new Metadata();
          trailing.set('x-both', 'trailing');
          trailing.set('x-last-bin', Buffer.from([7, 0]));
          reply(null, `hello ${call.request}`, trailing);
        },
      });
      const gw = await grpcGateway(port);
      const metadata = new Metadata();
      metadata.set('x-name', 'a');
      metadata.set('x-data-bin', Buffer.from([1, 2, 255]));
      const reply = await new EchoClient(gw.port).unary('world', metadata);
      expect(reply).to.include({ message: 'hello world', code: status.OK });
      expect(received!.get('x-name')).to.deep.equal(['a']);
      expect(received!.get('x-data-bin')).to.deep.equal([Buffer.from([1, 2, 255])]);
      expect(reply.initial!.get('x-both')).to.deep.equal(['initial']);
      expect(reply.initial!.get('x-bytes-bin')).to.deep.equal([Buffer.from([0, 255, 1])]);
      expect(reply.trailing!.get('x-both')).to.deep.equal(['trailing']);
      expect(reply.trailing!.get('x-last-bin')).to.deep.equal([Buffer.from([7, 0])]);
    });

    it('implies HTTP/2 by the service spec of an upstream', async () => {
      const port = await echoServer({ unary: (call, reply) => reply(null, call.request) });
      const gw = await grpcGateway(port, { spec: { static: { hosts: [], serviceSpec: { grpcJsonTranscoder: {} } } } });
      expect((await new EchoClient(gw.port).unary('x')).message).to.equal('x');
      expect(gw.stat('cluster.up_gw-system.upstream_cx_http2_total')).to.equal(1);
    });

    it('passes errors, also without a message before', async () => {
      const port = await echoServer({
        unary: (_call, reply) => reply({ code: status.ALREADY_EXISTS, details: 'it exists: 100 %' }),
      });
      const gw = await grpcGateway(port);
      const client = new EchoClient(gw.port);
      expect(await client.unary('x')).to.include({ code: status.ALREADY_EXISTS, details: 'it exists: 100 %' });
      expect(await client.unary('x', undefined, undefined, '/test.Echo/Missing')).to.include({
        code: status.UNIMPLEMENTED,
      });
    });

    it('passes a stream of the server', async () => {
      const port = await echoServer({
        list(call) {
          for (let i = 0; i < 100; i++) call.write(`${call.request} ${i}`);
          call.end();
        },
      });
      const gw = await grpcGateway(port);
      const call = new EchoClient(gw.port).list('a');
      const messages: string[] = [];
      for await (const message of call) messages.push(message as string);
      expect(messages).to.have.length(100);
      expect(messages[99]).to.equal('a 99');
    });

    it('passes a stream of the client', async () => {
      const port = await echoServer({
        join(call, reply) {
          const messages: string[] = [];
          call.on('data', (message: string) => messages.push(message)).on('end', () => reply(null, messages.join(',')));
        },
      });
      const gw = await grpcGateway(port);
      const { call, reply } = new EchoClient(gw.port).join();
      for (const message of ['a', 'b', 'c']) call.write(message);
      call.end();
      expect(await reply).to.equal('a,b,c');
    });

    it('passes messages of both sides while both streams are open', async () => {
      const port = await echoServer({
        chat(call) {
          call.on('data', (message: string) => call.write(`re: ${message}`)).on('end', () => call.end());
        },
      });
      const gw = await grpcGateway(port);
      const call = new EchoClient(gw.port).chat();
      for (const message of ['a', 'b', 'c']) {
        call.write(message);
        const [reply] = await once(call, 'data');
        expect(reply).to.equal(`re: ${message}`);
      }
      call.end();
      call.resume();
      const [{ code }] = await once(call, 'status');
      expect(code).to.equal(status.OK);
    });

    it('keeps a stream open for longer than the timeout of the route while the client may send', async () => {
      const port = await echoServer({
        chat(call) {
          call.on('data', (message: string) => call.write(`re: ${message}`)).on('end', () => call.end());
        },
      });
      const gw = await grpcGateway(port, { route: { options: { timeout: '0.1s' } } });
      const call = new EchoClient(gw.port).chat();
      const startedAt = performance.now();
      for (const message of ['a', 'b']) {
        call.write(message);
        const [reply] = await once(call, 'data');
        expect(reply).to.equal(`re: ${message}`);
        await until(() => performance.now() - startedAt > 120, 'the timeout of the route');
      }
      call.end();
      call.resume();
      const [{ code }] = await once(call, 'status');
      expect(code).to.equal(status.OK);
    });

    it('ends the call of the server when the client cancels', async () => {
      let started = false;
      let cancelled = false;
      const port = await echoServer({
        chat(call) {
          started = true;
          call.on('cancelled', () => (cancelled = true));
        },
      });
      const gw = await grpcGateway(port);
      const call = new EchoClient(gw.port).chat();
      call.on('error', () => {});
      call.write('a');
      await until(() => started, 'the call');
      call.cancel();
      await until(() => cancelled, 'the cancellation');
    });

    it('fails a call whose server breaks off', async () => {
      const upstream = await frameUpstream((socket, id) => {
        socket.write(head(id, ':status', '200', 'content-type', 'application/grpc'));
        socket.write(Buffer.concat([data(id, '\0\0\0\0\u0005first'), reset(id, 2)]));
      });
      const gw = await grpcGateway(upstream.port);
      const call = new EchoClient(gw.port).list('a');
      call.on('error', () => {}).resume();
      const code = await new Promise((resolve) => call.once('status', (ended) => resolve(ended.code)));
      expect(code).not.to.equal(status.OK);
    });

    it('passes the deadline to the server, and applies it with grpcTimeoutHeaderMax', async () => {
      let deadline: unknown;
      const port = await echoServer({ unary: (call) => void (deadline = call.getDeadline()) });
      const options = { maxStreamDuration: { grpcTimeoutHeaderMax: '0s' } };
      const gw = await grpcGateway(port, { route: { options } });
      const reply = await new EchoClient(gw.port).unary('x', undefined, { deadline: Date.now() + 300 });
      expect(reply.code).to.equal(status.DEADLINE_EXCEEDED);
      expect(Number(deadline)).to.be.greaterThan(0);
    });

    describe('responses of the gateway', () => {
      const cases = [
        ['a route that does not exist', { matchers: [{ prefix: '/other' }] }, 'UNIMPLEMENTED', ''],
        [
          'an upstream that is not there',
          {},
          'UNAVAILABLE',
          /^upstream connect error .* reset reason: remote connection failure$/,
        ],
        [
          'a direct response with 401',
          { action: { type: 'direct', status: 401, body: 'log in, 100 % é\n' } },
          'UNAUTHENTICATED',
          'log in, 100 % é\n',
        ],
        ['a direct response with 403', { action: { type: 'direct', status: 403, body: '' } }, 'PERMISSION_DENIED', ''],
        ['a direct response with 429', { action: { type: 'direct', status: 429, body: '' } }, 'UNAVAILABLE', ''],
        ['a direct response with 400', { action: { type: 'direct', status: 400, body: '' } }, 'INTERNAL', ''],
        ['a direct response with 418', { action: { type: 'direct', status: 418, body: '' } }, 'UNKNOWN', ''],
      ] as const;
      for (const [name, route, code, details] of cases) {
        it(`have the status ${code} for ${name}`, async () => {
          const gw = await grpcGateway(1, { route: route as never });
          const reply = await new EchoClient(gw.port).unary('x');
          expect(reply.code).to.equal(status[code]);
          if (typeof details === 'string') expect(reply.details).to.equal(details);
          else expect(reply.details).to.match(details);
          expect(gw.stat('http.http.downstream_rq_2xx')).to.equal(1);
        });
      }

      it('have the status UNAVAILABLE after the timeout of the route', async () => {
        const port = await echoServer({ unary: () => {} });
        const gw = await grpcGateway(port, { route: { options: { timeout: '0.1s' } } });
        const reply = await new EchoClient(gw.port).unary('x');
        expect(reply).to.include({ code: status.UNAVAILABLE, details: 'upstream request timeout' });
      });

      it('are not changed for other requests', async () => {
        const gw = await grpcGateway(1, { route: { action: { type: 'direct', status: 403, body: 'no' } } });
        const headers = { 'content-type': 'application/grpcx' };
        const res = await fetch(`http://127.0.0.1:${gw.port}/`, { method: 'POST', headers, body: 'x' });
        expect(res.status).to.equal(403);
        expect(await res.text()).to.equal('no');
      });
    });

    it('retries by the status of gRPC', async () => {
      let calls = 0;
      const port = await echoServer({
        unary(call, reply) {
          if (++calls < 3) reply({ code: status.UNAVAILABLE, details: 'later' });
          else reply(null, call.request);
        },
      });
      const retries = { retryOn: 'unavailable', numRetries: 2, retryBackOff: { baseInterval: '1ms' } };
      const gw = await grpcGateway(port, { route: { options: { retries } } });
      expect((await new EchoClient(gw.port).unary('x')).message).to.equal('x');
      expect(calls).to.equal(3);
    });
  }),
);
