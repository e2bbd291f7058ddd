import { createServer, request, type ClientRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { readBody } from '../../src/http/read-body.ts';

describe('readBody', () => {
  const MAX = 10;
  let server: Server;
  let received: PromiseWithResolvers<IncomingMessage>;
  let client: ClientRequest;
  beforeEach(async () => {
    received = Promise.withResolvers();
    server = createServer((req) => received.resolve(req));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    client.destroy();
    server.close();
    server.closeAllConnections();
  });

  /** Begins a request; the body is written by the test. */
  async function begin(headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    client = request({ port, host: '127.0.0.1', method: 'POST', headers });
    client.on('error', () => {});
    client.flushHeaders();
    return received.promise;
  }

  it('returns the bytes of a body up to the limit', async () => {
    const reading = readBody(await begin(), MAX);
    client.write('01234');
    client.end('56789');
    expect(String(await reading)).to.equal('0123456789');
  });

  it('returns no bytes for an empty body', async () => {
    const reading = readBody(await begin(), MAX);
    client.end();
    expect(await reading).to.have.length(0);
  });

  it('does not read a body whose length is declared above the limit', async () => {
    const req = await begin({ 'content-length': String(MAX + 1) });
    expect(await readBody(req, MAX)).to.equal(undefined);
    expect(req.readableDidRead).to.equal(false);
  });

  it('does not wait for the rest of a body that exceeds the limit', async () => {
    const req = await begin();
    const reading = readBody(req, MAX);
    client.write('01234567890');
    expect(await reading).to.equal(undefined);
    expect(req.complete).to.equal(false);
  });

  it('rejects if the client closes the connection before the end', async () => {
    const reading = readBody(await begin(), MAX);
    client.write('0');
    client.destroy();
    const error = await reading.catch((reason: unknown) => reason);
    expect(error).to.be.an.instanceOf(Error);
  });
});
