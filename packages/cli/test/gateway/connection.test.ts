import { expect } from 'chai';
import { createConnection } from '../../src/gateway/connection.ts';
import { answer, type AnsweringServer, type Handle } from '../support/answering-server.ts';

async function failure(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  return work.then(
    () => expect.fail('it did not fail'),
    (error: { code: string; message: string }) => error,
  );
}

describe('connection', () => {
  let server: AnsweringServer;
  before(async () => {
    server = await answer({
      '/snapshots/input': '<html>not JSON</html>',
      '/snapshots/xds': '{"other":1}',
      '/snapshots/edge': 'null',
      '/big': 'x'.repeat(5000),
      '/refused': ((_req, res) => res.writeHead(503).end('later\nsecond line')) satisfies Handle,
      '/silent': () => {},
      '/cut': ((_req, res) => {
        res.writeHead(200, { 'content-length': '100' });
        res.write('half');
        setImmediate(() => res.destroy());
      }) satisfies Handle,
    });
  });
  after(() => server.close());
  const connect = () =>
    createConnection({ server: server.url, proxyAdmin: server.url, maxBytes: 4096, timeoutMs: 300 });

  it('names the remedy in one line if nothing listens', async () => {
    const gone = await answer({});
    await gone.close();
    const error = await failure(createConnection({ server: gone.url }).snapshot('input'));
    expect(error.code).to.equal('ERR_CLI_UNREACHABLE');
    expect(error.message).to.equal(
      `no gateway at ${gone.url} (ECONNREFUSED); start one with "npm start", or set its address with --server`,
    );
  });

  it('rejects a response that is not JSON, or not in the shape of a snapshot', async () => {
    for (const name of ['input', 'xds', 'edge'] as const) {
      expect((await failure(connect().snapshot(name))).code).to.equal('ERR_CLI_BAD_ANSWER');
    }
  });

  it('stops reading a response that is too large', async () => {
    expect((await failure(connect().proxy('/big'))).code).to.equal('ERR_CLI_TOO_LARGE');
  });

  it('reports the status and first line of an error response', async () => {
    const error = await failure(connect().proxy('/refused'));
    expect(error.code).to.equal('ERR_CLI_REFUSED');
    expect(error.message).to.equal(`${server.url}/refused answered 503 (later)`);
    expect((await failure(connect().proxy('/none'))).message).to.contain('check --proxy-admin');
  });

  it('returns up on a server that never responds, or closes the connection', async () => {
    expect((await failure(connect().proxy('/silent'))).message).to.equal(
      `no response of ${server.url} within 0.3 s: the gateway is stopped or overloaded; restart it, or set another address with --proxy-admin`,
    );
    expect((await failure(connect().proxy('/cut'))).code).to.equal('ERR_CLI_UNREACHABLE');
  });

  it('rejects addresses that are none, and never repeats a password in an error', async () => {
    for (const bad of ['', 'localhost:9091', 'ftp://x', 'http://', '///']) {
      expect(() => createConnection({ server: bad })).to.throw('--server must be an address');
    }
    const withPassword = server.url.replace('http://', 'http://ann:hunter2@');
    const error = await failure(createConnection({ proxyAdmin: withPassword }).proxy('/none'));
    expect(error.message).to.not.contain('hunter2');
  });
});
