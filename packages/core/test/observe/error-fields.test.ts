import { expect } from 'chai';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { GatewayError } from '../../src/errors.ts';
import { createLoggers } from '../../src/observe/logger.ts';
import { readableLine } from '../../src/observe/readable-line.ts';

function logged(err: unknown): { readonly err: { readonly message: string; readonly stack?: string } } {
  let line = '';
  const loggers = createLoggers({ destination: { write: (text) => void (line = text) } });
  loggers.get('router').error({ err }, 'failed');
  return JSON.parse(line);
}

/** Returns a port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

const grpc = (code: number): Error =>
  Object.assign(new Error(`${code} UNAVAILABLE`), { code, details: 'no connection' });
const coded = (code: string, message = code): Error => Object.assign(new Error(message), { code });

describe('errors in the log', () => {
  it('have no stack trace if a peer cannot be reached, and name the cause', async () => {
    const error: unknown = await fetch(`http://127.0.0.1:${await closedPort()}/`).catch((thrown: unknown) => thrown);
    const { err } = logged(error);
    expect(err).to.not.have.any.keys('stack', 'aggregateErrors');
    expect(err.message).to.match(/^fetch failed/);
  });

  const expected: readonly (readonly [string, unknown])[] = [
    ['a refused connection', coded('ECONNREFUSED')],
    ['a name that does not resolve', coded('ENOTFOUND')],
    ['an expired certificate', new Error('fetch failed', { cause: coded('CERT_HAS_EXPIRED') })],
    ['a self-signed certificate', coded('DEPTH_ZERO_SELF_SIGNED_CERT')],
    ['a timeout', new DOMException('too slow', 'TimeoutError')],
    ['several addresses', Object.assign(new AggregateError([coded('ECONNREFUSED')], ''), { code: 'ECONNREFUSED' })],
    ['a gRPC server that is away', grpc(14)],
    ['a gRPC server that is slow', grpc(4)],
    [
      'a rejection',
      new GatewayError('away', { status: 502, code: 'ERR_X_AWAY', cause: new TypeError('fetch failed') }),
    ],
  ];
  for (const [what, error] of expected) {
    it(`have no stack trace for ${what}`, () => {
      const { err } = logged(error);
      expect(err).to.not.have.any.keys('stack', 'aggregateErrors');
      expect(err).to.include.keys('type', 'message');
    });
  }

  const defects: readonly (readonly [string, unknown])[] = [
    ['a defect', new TypeError('x is not a function')],
    ['a wrong argument', coded('ERR_INVALID_ARG_TYPE')],
    ['a failure of the gateway', new GatewayError('failed', { status: 500, code: 'ERR_X', cause: new Error('why') })],
    ['a gRPC status of a defect', grpc(13)],
  ];
  for (const [what, error] of defects) {
    it(`keep the stack trace of ${what}`, () => {
      expect(logged(error).err.stack).to.be.a('string').that.includes('\n');
    });
  }

  it('show the message on a terminal', () => {
    let line = '';
    const loggers = createLoggers({ destination: { write: (text) => void (line = text) } });
    loggers.get('router').error({ err: coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:9') }, 'failed');
    expect(readableLine(line)).to.include('err="connect ECONNREFUSED 127.0.0.1:9"').and.to.not.include('at ');
  });

  it('have no stack trace for an error of a socket', async () => {
    const port = await closedPort();
    const error = await new Promise((resolve) => connect({ host: '127.0.0.1', port }).once('error', resolve));
    expect(logged(error).err).to.not.have.property('stack');
  });
});
