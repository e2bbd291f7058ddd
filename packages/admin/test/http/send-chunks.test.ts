import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { sendChunks } from '../../src/http/send-chunks.ts';

describe('sendChunks', () => {
  let server: Server;
  let made = 0;
  let ended = false;
  let failure: unknown;

  function* endless(): Generator<string> {
    try {
      for (;;) {
        made++;
        yield 'x'.repeat(1000);
      }
    } finally {
      ended = true;
    }
  }

  function* failing(): Generator<string> {
    yield 'some';
    throw new Error('broken');
  }

  before(async () => {
    server = createServer((req, res) => {
      if (req.url === '/endless') void sendChunks(res, endless());
      else if (req.url === '/failing')
        sendChunks(res, failing()).catch((error: unknown) => res.end(String((failure = error))));
      else void sendChunks(res, ['a', 'b', 'c']);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    made = 0;
    ended = false;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise(setImmediate);
  };

  it('sends all chunks', async () => {
    expect(await (await fetch(url('/'))).text()).to.equal('abc');
  });

  it('sends no body to HEAD', async () => {
    expect(await (await fetch(url('/'), { method: 'HEAD' })).text()).to.equal('');
  });

  it('serves other requests meanwhile, and stops when the client disconnects', async () => {
    const request = get(url('/endless'));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    expect(await (await fetch(url('/'))).text()).to.equal('abc');
    request.destroy();
    response.on('error', () => {});
    await until(() => ended);
  });

  it('waits for a client that stops reading', async () => {
    const request = get(url('/endless'));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    let before = -1;
    await until(() => {
      const same = before === made && made > 0;
      before = made;
      return same;
    });
    expect(ended).to.equal(false);
    response.on('error', () => {});
    request.destroy();
    await until(() => ended);
  });

  it('rejects with the error of an iterator, before anything is sent', async () => {
    expect(await (await fetch(url('/failing'))).text()).to.equal('Error: broken');
    expect(failure).to.be.an('error');
  });
});
