import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsNames } from '@edge-gateway/core';
import { expect } from 'chai';
import { tlsNamesOf } from '../../src/request/tls-names.ts';

const FOLDER = new URL('../../../routing/test/upstream/certificates/', import.meta.url);
const file = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');
const SERVER = { cert: file('server.crt'), key: file('server.key'), ca: file('ca.crt') };

/** The names that a server sees of a client with these options. */
async function namesFor(client: object, rejectUnauthorized = true): Promise<TlsNames | undefined> {
  let names: TlsNames | undefined;
  const server = createServer({ ...SERVER, requestCert: true, rejectUnauthorized }, (req, res) => {
    names = tlsNamesOf(req.socket);
    expect(tlsNamesOf(req.socket)).to.equal(names);
    res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await new Promise<void>((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const options = { host: '127.0.0.1', port, ca: file('ca.crt'), servername: 'localhost', agent: false, ...client };
      const sent = request(options, (res) => res.resume().on('end', resolve));
      sent.on('error', reject).end();
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return names;
}

describe('tlsNamesOf', () => {
  it('returns the names of both ends and of the handshake', async () => {
    const names = await namesFor({ cert: file('client.crt'), key: file('client.key') });
    expect(names).to.deep.equal({ serverName: 'localhost', client: 'CN=client', server: 'spiffe://example.com/api' });
  });

  it('ignores a client certificate that is not verified', async () => {
    const expired = { cert: file('expired.crt'), key: file('expired.key') };
    expect((await namesFor(expired, false))!.client).to.equal('');
  });

  it('returns no name for a client without a certificate', async () => {
    expect((await namesFor({}, false))!.client).to.equal('');
  });
});
