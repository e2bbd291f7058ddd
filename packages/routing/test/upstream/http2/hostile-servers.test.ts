import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { compileRetries } from '@edge-gateway/core';
import { closeAll, forEachHttp2Client, get, rawUpstream, until } from '../../forward/harness.ts';
import { data, fields, frame, frameUpstream, goaway, head, lastData, lastHead, reset } from './frames.ts';
import { FLAG, FRAME, uint32 } from '../../listen/http2/frames.ts';
import { http2Gateway } from './servers.ts';

/** Settings with the number of streams that a client may have open at once. */
const maxStreams = (count: number): Buffer =>
  frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, 3]), uint32(count)]));
const OK = [':status', '200'] as const;

/** Status and completeness of a response for which the server sends these frames. */
async function responseTo(...frames: readonly ((id: number) => Buffer)[]) {
  const upstream = await frameUpstream((socket, id) => socket.write(Buffer.concat(frames.map((make) => make(id)))));
  const gw = await http2Gateway(upstream.port, {}, { timeoutMs: 5000 });
  const { status, body, complete } = await get(gw.url);
  return { status, body, complete, gw, upstream };
}

forEachHttp2Client(() =>
  describe('a hostile server over HTTP/2', () => {
    afterEach(closeAll);

    it('is rejected with 502 for a malformed head', async () => {
      const heads: Readonly<Record<string, readonly string[]>> = {
        'no status': ['x-a', '1'],
        'two statuses': [...OK, ...OK],
        'a status after a header': ['x-a', '1', ...OK],
        'a status that is no number': [':status', 'abc'],
        'a long status': [':status', '2000'],
        'status 101': [':status', '101'],
        'a low status': [':status', '099'],
        'a high status': [':status', '600'],
        'a name in upper case': [...OK, 'X-A', '1'],
        'a connection header': [...OK, 'connection', 'close'],
        'a transfer-encoding': [...OK, 'transfer-encoding', 'chunked'],
        'keep-alive': [...OK, 'keep-alive', 'timeout=5'],
        'proxy-connection': [...OK, 'proxy-connection', 'close'],
        upgrade: [...OK, 'upgrade', 'websocket'],
        'a pseudo-header of a request': [...OK, ':path', '/'],
        'an unknown pseudo-header': [...OK, ':x', '/'],
        'two lengths': [...OK, 'content-length', '1', 'content-length', '1'],
        'a length that is no number': [...OK, 'content-length', '+1'],
        'more headers than allowed': [...OK, ...Array.from({ length: 101 }, (_, i) => [`x-${i}`, '1']).flat()],
        'many more headers than allowed': [...OK, ...Array.from({ length: 5000 }, (_, i) => [`x-${i}`, '1']).flat()],
        'a longer header list than allowed': [
          ...OK,
          ...Array.from({ length: 20 }, (_, i) => [`x-${i}`, 'a'.repeat(4000)]).flat(),
        ],
      };
      for (const [name, flat] of Object.entries(heads)) {
        const list = fields(flat);
        const frames: ((id: number) => Buffer)[] = [];
        for (let at = 0; at === 0 || at < list.length; at += 16_000) {
          const flags = at + 16_000 >= list.length ? FLAG.endHeaders : 0;
          frames.push((id) =>
            frame(at === 0 ? FRAME.headers : FRAME.continuation, flags, id, list.subarray(at, at + 16_000)),
          );
        }
        const { status, gw } = await responseTo(...frames, (id) => lastData(id, 'x'));
        expect(status, name).to.equal(502);
        expect(gw.outcomes[0]!.flags, name).to.equal('UPE');
        expect(gw.outcomes[0]!.details, name).to.match(/^upstream_reset_before_response_started\{protocol_error\|/);
      }
    });

    it('cannot send a line break in a header', async () => {
      const headers = [
        ...['a\r\nset-cookie: b', 'a\nb', 'a\0b', 'a\rb'].map((value) => ['x-a', value]),
        ...['x a', '', 'x\r\nset-cookie', 'x:y'].map((name) => [name, '1']),
      ];
      for (const header of headers) {
        const { status, gw } = await responseTo((id) => lastHead(id, ...OK, ...header));
        // Node drops such a header, or rejects the response.
        expect(status).to.be.oneOf([200, 502]);
        const res = await get(gw.url);
        expect(res.raw.map((each) => each.toLowerCase()).join()).not.to.match(/x-?a|set-cookie|x:y/);
      }
    });

    it('is rejected if the body is longer or shorter than its length', async () => {
      for (const body of ['xx', '']) {
        const {
          status,
          complete,
          body: got,
        } = await responseTo(
          (id) => head(id, ...OK, 'content-length', '1'),
          (id) => lastData(id, body),
        );
        expect(status === 502 || !complete, body).to.equal(true);
        expect(got).not.to.equal('xx');
      }
    });

    it('does not complete a response by a reset without an error', async () => {
      const { status, complete } = await responseTo(
        (id) => head(id, ...OK),
        (id) => data(id, 'part'),
        (id) => reset(id, 0),
      );
      expect(status !== 200 || !complete).to.equal(true);
    });

    it('ends a request whose upload it resets without an error', async () => {
      for (const frames of [[], [(id: number) => head(id, ...OK), (id: number) => data(id, 'part')]]) {
        const upstream = await frameUpstream((socket, id) => {
          for (const make of frames) socket.write(make(id));
          socket.write(reset(id, 0));
        });
        const gw = await http2Gateway(upstream.port);
        const req = request(gw.url, { method: 'POST', agent: false }).on('error', () => {});
        req.write(Buffer.alloc(300_000));
        const [res] = (await once(req, 'response')) as [IncomingMessage];
        res.resume();
        await until(() => gw.outcomes.length === 1);
        expect(res.statusCode).to.be.oneOf([200, 503]);
        expect(gw.outcomes[0]!.flags).to.equal('UR');
        req.destroy();
      }
    });

    it('breaks off the response of a stream that is reset during the body', async () => {
      for (const code of [0, 2, 8]) {
        let resetStream = (): void => {};
        const upstream = await frameUpstream((socket, id) => {
          resetStream = () => void socket.write(reset(id, code));
          socket.write(Buffer.concat([head(id, ...OK), data(id, 'part')]));
        });
        const gw = await http2Gateway(upstream.port);
        const req = request(gw.url, { agent: false }).end();
        const [res] = (await once(req, 'response')) as [IncomingMessage];
        let body = '';
        res
          .on('error', () => {})
          .on('data', (chunk) => {
            body += chunk;
            resetStream();
          });
        await new Promise((resolve) => res.once('close', resolve));
        expect({ body, complete: res.complete }).to.deep.equal({ body: 'part', complete: false });
        expect(gw.outcomes[0], String(code)).to.include({ aborted: true, flags: 'UR' });
        expect(gw.outcomes[0]!.details).to.equal('upstream_reset_after_response_started{remote_reset}');
      }
    });

    it('fails all requests of a connection that breaks', async () => {
      const upstream = await frameUpstream((socket, id) => {
        if (id === 5) socket.destroy();
      });
      const gw = await http2Gateway(upstream.port);
      const all = await Promise.all([get(gw.url), get(gw.url), get(gw.url)]);
      expect(all.map(({ status }) => status)).to.deep.equal([503, 503, 503]);
      expect(gw.outcomes.map(({ flags }) => flags)).to.deep.equal(['UC', 'UC', 'UC']);
      await until(() => gw.stat('upstream_cx_active') === 0, 'the end of the connection');
    });

    it('completes a response that is followed by a reset', async () => {
      for (const code of [0, 8, 2]) {
        const response = await responseTo(
          (id) => head(id, ...OK),
          (id) => lastData(id, 'all'),
          (id) => reset(id, code),
        );
        expect(response, String(code)).to.include({ status: 200, body: 'all', complete: true });
      }
    });

    it('sends a request again that the server did not process before GOAWAY', async () => {
      const upstream = await frameUpstream((socket, id) => {
        if (upstream.connections === 1) socket.write(goaway(0));
        else socket.write(Buffer.concat([head(id, ...OK), lastData(id, 'again')]));
      });
      const gw = await http2Gateway(upstream.port);
      const res = await get(gw.url, { method: 'DELETE' });
      expect(res).to.include({ status: 200, body: 'again' });
      expect(upstream.connections).to.equal(2);
      expect(gw.stat('upstream_rq_retry')).to.equal(1);
      expect(gw.stat('upstream_cx_close_notify')).to.equal(1);
    });

    it('gets a request at most three times again, each time on another connection', async () => {
      for (const [closes, status] of [
        [3, 200],
        [4, 503],
      ] as const) {
        const upstream = await frameUpstream((socket, id) => {
          if (upstream.connections <= closes) socket.write(goaway(0));
          else socket.write(lastHead(id, ...OK));
        });
        const gw = await http2Gateway(upstream.port);
        expect((await get(gw.url)).status).to.equal(status);
        expect(upstream.connections).to.equal(4);
        expect(gw.stat('upstream_rq_retry')).to.equal(3);
      }
    });

    it('gets a request only once if it has sent a part of the response', async () => {
      let close = (): void => {};
      const upstream = await frameUpstream((socket, id) => {
        close = () => void socket.write(goaway(0));
        socket.write(Buffer.concat([head(id, ...OK), data(id, 'part')]));
      });
      const gw = await http2Gateway(upstream.port);
      const req = request(gw.url, { agent: false }).end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      let body = '';
      res
        .on('error', () => {})
        .on('data', (chunk) => {
          body += chunk;
          close();
        });
      await new Promise((resolve) => res.once('close', resolve));
      expect({ body, complete: res.complete }).to.deep.equal({ body: 'part', complete: false });
      expect(upstream.connections).to.equal(1);
      expect(gw.stat('upstream_rq_retry')).to.equal(0);
    });

    it('gets a request again whose body is held as a whole', async () => {
      const upstream = await frameUpstream((socket, id) => {
        if (upstream.connections === 1) socket.write(goaway(0));
        else socket.write(Buffer.concat([head(id, ...OK), lastData(id, 'again')]));
      });
      const gw = await http2Gateway(upstream.port, {}, { body: Buffer.from('held') });
      expect(await get(gw.url, { method: 'POST' })).to.include({ status: 200, body: 'again' });
      const bodies = upstream.received
        .filter(({ type }) => type === FRAME.data)
        .map(({ payload }) => payload.toString());
      expect(bodies).to.deep.equal(['held', 'held']);
      expect(upstream.connections).to.equal(2);
    });

    it('gets a request with a body that is streamed only once', async () => {
      const upstream = await frameUpstream((socket) => socket.write(goaway(0)));
      const gw = await http2Gateway(upstream.port);
      expect((await get(gw.url, { method: 'POST', body: 'x' })).status).to.equal(503);
      expect(upstream.connections).to.equal(1);
    });

    it('gets a request with a body again for the retry condition refused-stream', async () => {
      const upstream = await frameUpstream((socket, id) => {
        if (upstream.connections === 1) socket.write(goaway(0));
        else socket.write(Buffer.concat([head(id, ...OK), lastData(id, 'again')]));
      });
      const retries = compileRetries({ retryOn: 'refused-stream', numRetries: 1 });
      const gw = await http2Gateway(upstream.port, {}, { retries });
      expect(await get(gw.url, { method: 'POST', body: 'x' })).to.include({ status: 200, body: 'again' });
      const bodies = upstream.received
        .filter(({ type }) => type === FRAME.data)
        .map(({ payload }) => payload.toString());
      expect(bodies).to.include('x');
      expect(upstream.connections).to.equal(2);
    });

    it('cannot keep an idle connection open after GOAWAY', async () => {
      const upstream = await frameUpstream((socket, id) => void socket.write(lastHead(id, ...OK)), undefined, {
        allowHalfOpen: true,
      });
      const gw = await http2Gateway(upstream.port);
      expect((await get(gw.url)).status).to.equal(200);
      expect(gw.stat('upstream_cx_active')).to.equal(1);
      for (const socket of upstream.sockets) socket.write(goaway(1));
      await until(() => gw.stat('upstream_cx_active') === 0, 'the end of the connection');
    });

    it('fails a request when it closes the connection with an error', async () => {
      const upstream = await frameUpstream((socket, id) => void socket.end(goaway(id, 2)));
      const gw = await http2Gateway(upstream.port);
      expect((await get(gw.url)).status).to.equal(503);
      expect(gw.outcomes[0]).to.include({
        flags: 'UC',
        cause: 'ERR_ROUTING_UPSTREAM_RESET the upstream closed the connection with INTERNAL_ERROR',
      });
    });

    it('may send at most 16 interim responses', async () => {
      const interim = (id: number): Buffer => head(id, ':status', '103');
      const sixteen = await responseTo(...Array.from({ length: 16 }, () => interim), (id) => lastHead(id, ...OK));
      expect(sixteen.status).to.equal(200);
      const more = await responseTo(...Array.from({ length: 17 }, () => interim), (id) => lastHead(id, ...OK));
      expect(more.status).to.equal(502);
    });

    it('cannot push responses', async () => {
      const promised = (id: number): Buffer =>
        frame(
          FRAME.pushPromise,
          FLAG.endHeaders,
          id,
          Buffer.concat([Buffer.of(0, 0, 0, 2), fields([':method', 'GET', ':path', '/'])]),
        );
      const { status } = await responseTo(promised, (id) => lastHead(id, ...OK));
      expect(status).to.equal(502);
    });

    it('is closed for frames that violate the protocol', async () => {
      const cases: Readonly<Record<string, (id: number) => Buffer>> = {
        'data before the head': (id) => lastData(id, 'x'),
        'data of stream 0': () => lastData(0, 'x'),
        'a head of a stream that is not open': (id) => lastHead(id + 2, ...OK),
        'a frame that is too large': (id) => frame(FRAME.data, 0, id, Buffer.alloc(20_000)),
        'a window of 0': (id) => frame(FRAME.windowUpdate, 0, id, Buffer.alloc(4)),
        'a continuation without a head': (id) => frame(FRAME.continuation, FLAG.endHeaders, id, fields(OK)),
        'an invalid header block': (id) =>
          frame(FRAME.headers, FLAG.endHeaders, id, Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff)),
        'a setting that is invalid': () => frame(FRAME.settings, 0, 0, Buffer.of(0, 4, 0xff, 0xff, 0xff, 0xff)),
        HTTP1: () => Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
      };
      for (const [name, make] of Object.entries(cases)) {
        const { status } = await responseTo(make);
        expect(status, name).to.be.oneOf([502, 503]);
      }
    });

    it('cannot exhaust memory with pings, settings, resets or continuations', async () => {
      const floods: Readonly<Record<string, (id: number) => Buffer>> = {
        pings: () => frame(FRAME.ping, 0, 0, Buffer.alloc(8)),
        settings: () => frame(FRAME.settings, 0, 0, Buffer.of(0, 4, 0, 0, 0xff, 0xff)),
        continuations: (id) => frame(FRAME.continuation, 0, id, fields(['x-a', 'b'])),
      };
      for (const [name, make] of Object.entries(floods)) {
        const upstream = await frameUpstream((socket, id) => {
          socket.pause();
          if (name === 'continuations') socket.write(frame(FRAME.headers, 0, id, fields(OK)));
          const many = Buffer.concat(Array.from({ length: 5000 }, () => make(id)));
          socket.write(many, () => socket.destroy());
        });
        const gw = await http2Gateway(upstream.port, {}, { timeoutMs: 5000 });
        expect((await get(gw.url)).status, name).to.be.oneOf([502, 503]);
      }
    });

    it('that speaks HTTP/1.1 only is reported as a protocol error', async () => {
      const upstream = await rawUpstream((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      const gw = await http2Gateway(upstream.port);
      expect((await get(gw.url)).status).to.equal(502);
      expect(gw.outcomes[0]!.flags).to.equal('UPE');
      await until(() => gw.stat('upstream_cx_active') === 0, 'the end of the connection');
    });

    it('that sends no settings is given up after the connect timeout', async () => {
      const upstream = await frameUpstream(() => {}, Buffer.alloc(0));
      const gw = await http2Gateway(upstream.port, { connectionConfig: { connectTimeout: '0.1s' } });
      const res = await get(gw.url);
      expect(res.status).to.equal(503);
      expect(res.body).to.match(/reset reason: connection timeout$/);
    });

    it('that allows no streams at first is waited for, on one connection', async () => {
      const upstream = await frameUpstream((socket, id) => void socket.write(lastHead(id, ...OK)), maxStreams(0));
      const gw = await http2Gateway(upstream.port);
      const responses = [get(gw.url), get(gw.url), get(gw.url)];
      await until(() => upstream.received.some(({ type, flags }) => type === FRAME.settings && flags === FLAG.ack));
      expect(upstream.connections).to.equal(1);
      for (const socket of upstream.sockets) socket.write(maxStreams(10));
      for (const { status } of await Promise.all(responses)) expect(status).to.equal(200);
      expect(upstream.connections).to.equal(1);
    });

    it('that allows no streams is given up after the connect timeout', async () => {
      const upstream = await frameUpstream(() => {}, maxStreams(0));
      const gw = await http2Gateway(upstream.port, { connectionConfig: { connectTimeout: '0.3s' } });
      expect((await get(gw.url)).status).to.equal(503);
      expect(upstream.connections).to.equal(1);
      expect(gw.outcomes[0]!.cause).to.match(/the server still allows no streams after 300 ms/);
    });

    it('that sends too many headers gets 502', async () => {
      const many = Array.from({ length: 1_000 }, (_, i) => [`x-${i}`, '1']).flat();
      const upstream = await frameUpstream((socket, id) => void socket.write(lastHead(id, ...OK, ...many)));
      const gw = await http2Gateway(upstream.port);
      expect((await get(gw.url)).status).to.equal(502);
    });

    it('that is not there gets 503', async () => {
      const upstream = await frameUpstream(() => {});
      await closeAll();
      const gw = await http2Gateway(upstream.port);
      expect((await get(gw.url)).status).to.equal(503);
      expect(gw.outcomes[0]!.flags).to.equal('UF');
      expect(gw.stat('upstream_cx_connect_fail')).to.equal(1);
      expect(gw.stat('upstream_rq_pending_active')).to.equal(0);
    });

    it('affects other requests of its connection only without overrideStreamErrorOnInvalidHttpMessage', async () => {
      for (const keeps of [true, false]) {
        const upstream = await frameUpstream((socket, id) => {
          const isFirst = upstream.received.filter(({ type }) => type === FRAME.headers).length === 1;
          socket.write(isFirst ? lastHead(id, ...OK, 'X-A', '1') : lastHead(id, ...OK));
        });
        const gw = await http2Gateway(upstream.port, { overrideStreamErrorOnInvalidHttpMessage: keeps });
        expect((await get(gw.url)).status).to.equal(502);
        expect((await get(gw.url)).status).to.equal(200);
        expect(upstream.connections).to.equal(keeps ? 1 : 2);
      }
    });
  }),
);
