import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { silentLoggers, type ProtectedHandler } from '@edge-gateway/core';
import { expect } from 'chai';
import { acceptUpgrades } from '../../src/middleware/accept-upgrades.ts';
import { onlyProtected, protect } from '../../src/middleware/protect.ts';

const UPGRADE = [
  'GET /socket HTTP/1.1',
  'Host: a',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
].join('\r\n');
const PIPELINED = `GET / HTTP/1.1\r\nHost: a\r\n\r\n${UPGRADE}\r\n\r\n`;

describe('an upgrade behind a request without a response', () => {
  let server: Server;

  beforeEach(async () => {
    server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Returns what the client receives until the connection closes. */
  async function received(text: string): Promise<string> {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let all = '';
    client.on('data', (chunk) => (all += chunk.toString('latin1')));
    client.on('error', () => {});
    client.write(text);
    await once(client, 'close');
    return all;
  }

  const unused: ProtectedHandler['upgrade'] = () => expect.fail('must not run');
  const ways: Readonly<Record<string, () => void>> = {
    'a chain': () => void acceptUpgrades(server, { '/socket': protect(() => expect.fail('must not run')) }),
    'no chain': () => void acceptUpgrades(server, {}),
    'a handler outside a chain': () => void server.on('upgrade', onlyProtected(unused, silentLoggers.get('http'))),
  };
  for (const [name, mount] of Object.entries(ways)) {
    it(`closes the connection: ${name}`, async () => {
      mount();
      expect(await received(PIPELINED)).to.equal('');
    });
  }

  it('is rejected with a response if there is no such request', async () => {
    acceptUpgrades(server, {});
    expect(await received(`${UPGRADE}\r\n\r\n`)).to.match(/^HTTP\/1\.1 404 /);
  });
});
