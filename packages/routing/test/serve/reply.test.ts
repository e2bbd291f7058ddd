import { connect } from 'node:net';
import { expect } from 'chai';
import { GatewayError } from '@edge-gateway/core';
import {
  errorReply,
  failureReply,
  headersOf,
  redirectReply,
  replyTo,
  textReply,
  writeReply,
  type LocalReply,
} from '../../src/serve/reply.ts';
import { start, stopAll } from '../snapshots.ts';

/** All bytes a server with this reply sends, until it or the client closes. */
async function answered(reply: LocalReply, request: string): Promise<string> {
  const { port } = await start((req, res) => void writeReply({ req, res }, reply.status, headersOf(reply), reply.body));
  return await new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('end', () => resolve(text)).on('error', reject);
  });
}

const head = (method: string, more = ''): string => `${method} / HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const CLOSE = 'Connection: close\r\n';

describe('reply', () => {
  afterEach(stopAll);

  it('has the length of its body in bytes', () => {
    expect(headersOf(textReply(200, 'ä'))).to.deep.equal(['content-length', '2']);
    expect(headersOf(textReply(204, ''))).to.deep.equal([]);
    expect(headersOf(redirectReply(302, '/a'))).to.deep.equal(['location', '/a', 'content-length', '0']);
  });

  it('has no length over HTTP/2 if it is empty', () => {
    expect(headersOf(textReply(200, 'ä'), 2)).to.deep.equal(['content-length', '2']);
    expect(headersOf(redirectReply(302, '/a'), 2)).to.deep.equal(['location', '/a']);
  });

  it('sends HEAD and statuses without a body none', async () => {
    expect(await answered(textReply(200, 'hello'), head('HEAD', CLOSE))).to.match(/content-length: 5\r\n[^]*\r\n\r\n$/);
    expect(await answered(textReply(204, 'hello'), head('GET', CLOSE))).to.match(/^HTTP\/1\.1 204 [^]*\r\n\r\n$/);
    expect(await answered(textReply(304, 'hello'), head('GET', CLOSE))).to.match(/^HTTP\/1\.1 304 [^]*\r\n\r\n$/);
  });

  it('closes the connection of a request with an unread body', async () => {
    const text = await answered(textReply(404, ''), `${head('POST', 'Content-Length: 100000\r\n')}begin`);
    expect(text).to.match(/^HTTP\/1\.1 404 /);
    expect(text.toLowerCase()).to.include('connection: close');
  });

  it('describes the client error by code, message and request id', () => {
    const reply = errorReply('ERR_ROUTING_BACKSLASH', 'id-1');
    expect([reply.status, reply.contentType, JSON.parse(String(reply.body))]).to.deep.equal([
      400,
      'application/json',
      { code: 'ERR_ROUTING_BACKSLASH', message: 'the path must not contain a backslash', requestId: 'id-1' },
    ]);
  });

  it('is the body of an error that has one, with its content type', () => {
    const text = new GatewayError('for the log', {
      code: 'ERR_RBAC_DENIED',
      status: 403,
      headers: { 'x-a': '1' },
      reply: { body: 'RBAC: access denied' },
    });
    expect(replyTo(text, 'i')).to.deep.equal({
      status: 403,
      body: 'RBAC: access denied',
      contentType: 'text/plain',
      headers: ['x-a', '1', 'x-request-id', 'i'],
      error: { code: 'ERR_RBAC_DENIED', message: 'RBAC: access denied' },
    });
    const html = { status: 502, headers: { 'content-type': 'text/html' }, reply: { body: '<p>' } };
    expect(replyTo(new GatewayError('', { code: 'ERR_X_Y', ...html }), 'i')).to.include({ contentType: 'text/html' });
    expect(replyTo(new GatewayError('', { code: 'ERR_X_Y', status: 403, reply: { body: '' } }), 'i')).to.include({
      contentType: '',
      body: '',
    });
  });

  it('has the request id of an error once, and none for a step of a protocol', () => {
    const reply = (status: number, headers = {}) =>
      replyTo(new GatewayError('', { code: 'ERR_X_Y', status, headers, reply: { body: '' } }), 'i').headers;
    expect(reply(403)).to.deep.equal(['x-request-id', 'i']);
    expect(reply(403, { 'X-Request-Id': 'theirs' })).to.deep.equal(['X-Request-Id', 'theirs']);
    expect(reply(302)).to.deep.equal([]);
    expect(failureReply({ code: 'ERR_X_Y', status: 404 }, '').headers).to.deep.equal([]);
  });

  it('shows the code of an error of a concern, and its message only for client errors', () => {
    const denied = new GatewayError('token is expired', {
      code: 'ERR_RBAC_TOKEN',
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
    });
    expect(replyTo(denied, 'i')).to.include({ status: 401 });
    expect(replyTo(denied, 'i').headers).to.deep.equal(['www-authenticate', 'Bearer', 'x-request-id', 'i']);
    expect(JSON.parse(String(replyTo(denied, 'i').body)).message).to.equal('token is expired');
    const broken = new GatewayError('redis at 10.0.0.1 is down', { code: 'ERR_OIDC_STORE', status: 503 });
    expect(JSON.parse(String(replyTo(broken, 'i').body))).to.include({ code: 'ERR_OIDC_STORE' });
    expect(replyTo(broken, 'i').body).not.to.include('redis');
    expect(replyTo(new Error('secret'), 'i')).to.include({ status: 500 });
    expect(replyTo(new Error('secret'), 'i').body).not.to.include('secret');
  });
});
