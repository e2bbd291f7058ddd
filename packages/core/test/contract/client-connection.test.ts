import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { connectionOf, plainAddress } from '../../src/contract/client-connection.ts';
import { factsOf } from '../../src/contract/facts.ts';

const socket = { remoteAddress: '::ffff:10.0.0.9', remotePort: 5000, localAddress: '10.0.0.1', localPort: 443 };
const requestOn = (more: object, express: object = {}): IncomingMessage =>
  Object.assign(new IncomingMessage({ ...socket, ...more } as Socket), { httpVersion: '1.1', ...express });

describe('the connection of a client', () => {
  it('comes from the socket in a server without Express', () => {
    const req = requestOn({ encrypted: true });
    req.headers = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'http' };
    expect(connectionOf(req)).to.deep.equal({
      clientAddress: '10.0.0.9',
      clientPort: 5000,
      scheme: 'https',
      protocol: 'HTTP/1.1',
      localAddress: '10.0.0.1',
      localPort: 443,
    });
    expect(connectionOf(requestOn({})).scheme).to.equal('http');
  });

  it('comes from Express', () => {
    const behind = connectionOf(requestOn({}, { ip: '203.0.113.7', protocol: 'https' }));
    expect(behind).to.include({ clientAddress: '203.0.113.7', clientPort: 0, scheme: 'https' });
    const direct = connectionOf(requestOn({}, { ip: '::ffff:10.0.0.9', protocol: 'http' }));
    expect(direct).to.include({ clientAddress: '10.0.0.9', clientPort: 5000, scheme: 'http' });
  });

  it('has no address if the socket is closed', () => {
    const gone = { remoteAddress: undefined, remotePort: undefined, localAddress: undefined, localPort: undefined };
    expect(connectionOf(requestOn(gone))).to.include({
      clientAddress: '',
      clientPort: 0,
      localAddress: '',
      localPort: 0,
    });
  });

  it('comes from the facts in the gateway', () => {
    const req = requestOn({});
    expect(factsOf(req).connection.clientAddress).to.equal('10.0.0.9');
    const trusted = { ...connectionOf(req), clientAddress: '203.0.113.7' };
    factsOf(req).connection = trusted;
    expect(factsOf(req).connection).to.equal(trusted);
  });

  for (const [address, plain] of [
    ['::ffff:10.0.0.9', '10.0.0.9'],
    ['::FFFF:10.0.0.9', '10.0.0.9'],
    ['::ffff:a00:9', '10.0.0.9'],
    ['0:0:0:0:0:ffff:10.0.0.9', '10.0.0.9'],
    ['0000:0000:0000:0000:0000:FFFF:0a00:0009', '10.0.0.9'],
    ['0::ffff:a00:9', '10.0.0.9'],
    ['10.0.0.9', '10.0.0.9'],
    ['::1', '::1'],
    ['::ffff:0:a00:9', '::ffff:0:a00:9'],
    ['2001:DB8::ffff:a00:9', '2001:DB8::ffff:a00:9'],
    ['::ffff:10.0.0.900', '::ffff:10.0.0.900'],
    ['::ffff:unknown', '::ffff:unknown'],
    [undefined, ''],
  ] as const) {
    it(`shows ${address} as ${plain === '' ? 'empty' : plain}`, () => expect(plainAddress(address)).to.equal(plain));
  }
});
