import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { GatewayError } from '../../src/errors.ts';
import { createPages } from '../../src/page/pages.ts';
import { respondToError } from '../../src/middleware/respond-to-error.ts';

describe('respondToError', () => {
  let server: Server;
  let error: unknown;
  let jsonErrors = false;
  before(async () => {
    server = createServer((req, res) => {
      res.setHeader('vary', 'origin').setHeader('x-code', 'old').setHeader('content-type', 'text/css');
      respondToError(error, req, res, { pages: createPages(), jsonErrors });
    }).listen(0);
    await once(server, 'listening');
  });
  after(() => server.close());

  async function send(headers: Record<string, string> = {}, method = 'GET') {
    const req = request({ port: (server.address() as AddressInfo).port, headers, method, agent: false }).end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    return { status: res.statusCode, headers: res.headers, body: await text(res) };
  }

  it('chooses page or JSON by the request, and adds to Vary of the response', async () => {
    error = new GatewayError('no', { code: 'ERR_X', status: 403, headers: { 'X-Code': 'new' } });
    for (const [accept, type] of [
      ['text/html', 'text/html; charset=utf-8'],
      ['*/*', 'application/json'],
    ] as const) {
      const { status, headers } = await send({ accept });
      expect({ status, ...headers }).to.deep.include({
        status: 403,
        'x-code': 'new',
        'content-type': type,
        vary: 'origin, accept, sec-fetch-mode, x-requested-with',
      });
    }
  });

  it('sends JSON instead of a text to clients that prefer it, if the context says so', async () => {
    error = new GatewayError('no', { code: 'ERR_X', status: 403, reply: { body: 'RBAC: access denied' } });
    const accept = 'application/json';
    const { body, headers } = await send({ accept });
    expect([body, headers['content-type']]).to.deep.equal(['RBAC: access denied', 'text/plain']);
    jsonErrors = true;
    const json = await send({ accept });
    jsonErrors = false;
    expect(JSON.parse(json.body)).to.deep.equal({
      code: 'ERR_X',
      message: 'RBAC: access denied',
      requestId: json.headers['x-request-id'],
    });
  });

  it('exposes the message of an error below status 500 only, and no unknown error', async () => {
    const bodyOf = async (thrown: unknown) => {
      error = thrown;
      const response = await send();
      const { requestId, ...body } = JSON.parse(response.body) as Record<string, unknown>;
      expect(requestId).to.be.a('string').and.not.equal('');
      return { status: response.status, ...body };
    };
    const message = 'the handler failed';
    expect(await bodyOf(new GatewayError('yours', { code: 'ERR_X', status: 499 }))).to.deep.equal({
      status: 499,
      code: 'ERR_X',
      message: 'yours',
    });
    const ours = await bodyOf(new GatewayError('ours', { code: 'ERR_X', status: 500 }));
    expect(ours).to.deep.include({ status: 500, code: 'ERR_X' });
    expect(ours).to.not.have.property('message', 'ours');
    const unknown = await bodyOf(new Error(message));
    expect(unknown).to.deep.include({ status: 500, code: 'ERR_CORE_HANDLER' });
    expect(unknown).to.not.have.property('message', message);
  });

  it('sends an empty body with its length, and no body to HEAD', async () => {
    error = new GatewayError('no', { code: 'ERR_X', status: 403, reply: { body: '', isFinal: true } });
    expect((await send()).headers).to.include({ 'content-length': '0', 'content-type': 'text/css' });
    const page = await send({ accept: 'text/html' });
    expect(page.headers['content-type'], 'there is no own text to keep').to.match(/^text\/html/);
    error = new GatewayError('no', { code: 'ERR_X', status: 403, reply: { body: 'denied' } });
    const head = await send({}, 'HEAD');
    expect(head.headers).to.include({ 'content-length': '6', 'content-type': 'text/plain' });
    expect(head.body).to.equal('');
  });
});
