import { request, type IncomingHttpHeaders } from 'node:http';
import { Metadata, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { closeAll, forEachHttp2Client } from '../../forward/harness.ts';
import { echoServer } from './echo-service.ts';
import { grpcGateway } from './gateway.ts';

/** A message of gRPC: flags, length, data. */
function frame(data: string, flags = 0): Buffer {
  const bytes = Buffer.alloc(5 + data.length);
  bytes[0] = flags;
  bytes.writeUInt32BE(data.length, 1);
  bytes.write(data, 5, 'latin1');
  return bytes;
}

/** The frames of a body: text, or the trailers by name. */
function framesOf(body: Buffer): {
  readonly messages: string[];
  readonly trailers: Record<string, string> | undefined;
} {
  const messages: string[] = [];
  let trailers: Record<string, string> | undefined;
  for (let at = 0; at < body.length;) {
    const length = body.readUInt32BE(at + 1);
    const data = body.toString('latin1', at + 5, at + 5 + length);
    if (body[at] === 0x80) {
      const lines = data.split('\r\n').slice(0, -1);
      trailers = Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
    } else messages.push(data);
    at += 5 + length;
  }
  return { messages, trailers };
}

/** Decodes parts that were padded one by one. */
const decode = (text: string): Buffer =>
  Buffer.concat((text.match(/[^=]+=*/g) ?? []).map((part) => Buffer.from(part, 'base64')));

interface WebResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends a request in these parts. */
function send(
  port: number,
  parts: readonly (string | Buffer)[],
  headers: Record<string, string>,
  path = '/test.Echo/Unary',
): Promise<WebResponse> {
  return new Promise((resolve, reject) => {
    const req = request({ port, path, method: 'POST', agent: false, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(chunks) }));
    });
    req.on('error', reject);
    const next = (i: number): void => {
      if (i === parts.length) req.end();
      else req.write(parts[i]!, () => next(i + 1));
    };
    next(0);
  });
}

const BINARY = { 'content-type': 'application/grpc-web+proto' };
const TEXT = { 'content-type': 'application/grpc-web-text' };

const unary = () =>
  echoServer({
    unary(call, reply) {
      if (call.request === 'fail') return reply({ code: status.NOT_FOUND, details: 'not here' });
      const trailing = new Metadata();
      trailing.set('x-last', '1');
      return reply(null, `hello ${call.request}`, trailing);
    },
  });

forEachHttp2Client(() =>
  describe('gRPC-Web', () => {
    afterEach(closeAll);

    it('is translated to gRPC, with the trailers as the last frame of the body', async () => {
      const gw = await grpcGateway(await unary());
      const res = await send(gw.port, [frame('web')], { ...BINARY, 'x-grpc-web': '1' });
      expect(res.status).to.equal(200);
      expect(res.headers['content-type']).to.equal('application/grpc-web+proto');
      const { messages, trailers } = framesOf(res.body);
      expect(messages).to.deep.equal(['hello web']);
      expect(trailers).to.include({ 'grpc-status': '0', 'x-last': '1' });
    });

    it('is translated from base64 in any split', async () => {
      const gw = await grpcGateway(await unary());
      const text = frame('some text').toString('base64');
      for (const size of [1, 2, 3, 4, 5, 7, text.length]) {
        const parts = text.match(new RegExp(`.{1,${size}}`, 'g'))!;
        const res = await send(gw.port, parts, TEXT);
        expect(res.headers['content-type'], String(size)).to.equal('application/grpc-web-text+proto');
        const { messages, trailers } = framesOf(decode(res.body.toString('latin1')));
        expect(messages).to.deep.equal(['hello some text']);
        expect(trailers).to.include({ 'grpc-status': '0' });
      }
    });

    it('is translated from base64 whose parts are padded one by one', async () => {
      const gw = await grpcGateway(await unary());
      const bytes = frame('ab');
      const text = [bytes.subarray(0, 1), bytes.subarray(1, 3), bytes.subarray(3)].map((part) =>
        part.toString('base64'),
      );
      const res = await send(gw.port, [text.join('')], TEXT);
      expect(framesOf(decode(res.body.toString('latin1'))).messages).to.deep.equal(['hello ab']);
    });

    it('has the encoding that the client accepts', async () => {
      const gw = await grpcGateway(await unary());
      const res = await send(gw.port, [frame('x')], { ...BINARY, accept: 'application/grpc-web-text' });
      expect(res.headers['content-type']).to.equal('application/grpc-web-text+proto');
      expect(framesOf(decode(res.body.toString('latin1'))).messages).to.deep.equal(['hello x']);
    });

    it('passes errors without a message in the head or in the last frame', async () => {
      const gw = await grpcGateway(await unary());
      const res = await send(gw.port, [frame('fail')], BINARY);
      expect(res.status).to.equal(200);
      const { trailers } = framesOf(res.body);
      const found = { ...res.headers, ...trailers };
      expect(found).to.include({ 'grpc-status': '5', 'grpc-message': 'not%20here' });
    });

    it('streams messages of the server', async () => {
      const port = await echoServer({
        list(call) {
          for (let i = 0; i < 50; i++) call.write(String(i));
          call.end();
        },
      });
      const gw = await grpcGateway(port);
      for (const headers of [BINARY, TEXT]) {
        const body = headers === TEXT ? frame('x').toString('base64') : frame('x');
        const res = await send(gw.port, [body], headers, '/test.Echo/List');
        const { messages, trailers } = framesOf(headers === TEXT ? decode(res.body.toString('latin1')) : res.body);
        expect(messages).to.have.length(50);
        expect(trailers).to.include({ 'grpc-status': '0' });
      }
    });

    it('is rejected with malformed base64', async () => {
      const gw = await grpcGateway(await unary());
      const valid = frame('x').toString('base64');
      for (const text of ['!!!!', `${valid}A`, `${valid}AA`, `${valid}A===`, `=${valid}`, 'AB==', '\n\n\n\n', '____']) {
        const res = await send(gw.port, [text], TEXT);
        // A reply of the gateway is one of gRPC.
        expect(res.status, text).to.equal(200);
        expect(res.headers, text).to.include({
          'grpc-status': '13',
          'content-type': 'application/grpc-web-text+proto',
        });
      }
    });

    it('gets the responses of the gateway in its own form', async () => {
      const gw = await grpcGateway(1);
      const res = await send(gw.port, [frame('x')], BINARY);
      expect(res.status).to.equal(200);
      expect(res.headers).to.include({ 'grpc-status': '14', 'content-type': 'application/grpc-web+proto' });
    });

    it('is allowed for other origins with CORS', async () => {
      const options = {
        cors: { allowOrigin: ['https://app.example.com'], allowMethods: ['POST'], allowHeaders: ['x-grpc-web'] },
      };
      const gw = await grpcGateway(await unary(), { route: { options } });
      const headers = { ...BINARY, origin: 'https://app.example.com' };
      const res = await send(gw.port, [frame('web')], headers);
      expect(res.headers['access-control-allow-origin']).to.equal('https://app.example.com');
      expect(framesOf(res.body).messages).to.deep.equal(['hello web']);
    });

    it('is not translated if the listener disables it', async () => {
      const gw = await grpcGateway(await unary(), { listener: { httpOptions: { grpcWeb: { disable: true } } } });
      const res = await send(gw.port, [frame('web')], BINARY);
      expect(res.headers['content-type']).not.to.equal('application/grpc-web+proto');
      expect(framesOf(res.body).trailers).to.equal(undefined);
    });
  }),
);
