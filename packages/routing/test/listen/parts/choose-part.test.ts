import { expect } from 'chai';
import type { ConnectionMatch } from '@edge-gateway/core';
import { createPartChooser, needsClientHello } from '../../../src/listen/parts/choose-part.ts';
import { tcpPart } from '../../tcp/tcp-gateway.ts';

const LEGACY = ['AES128-SHA', 'DES-CBC3-SHA'];
const ranges = (...texts: string[]): ConnectionMatch['sourceRanges'] =>
  texts.map((text) => ({ addressPrefix: text.split('/')[0]!, prefixLen: Number(text.split('/')[1]) }));

function chooser(matches: Record<string, Partial<ConnectionMatch>>) {
  const parts = Object.entries(matches).map(([name, match]) => tcpPart({ name }, match));
  const choose = createPartChooser(parts);
  return (serverName: string | undefined, clientAddress = '192.0.2.1', ciphers = [0xc02f]): string | undefined =>
    choose({ hello: serverName === undefined ? undefined : { serverName, ciphers }, clientAddress })?.tcp?.name;
}

describe('choosing the part of a connection', () => {
  it('prefers exact names, then the longest wildcard, then any name', () => {
    const choose = chooser({
      exact: { tls: true, serverNames: ['a.b.example', 'c.example'] },
      long: { tls: true, serverNames: ['*.b.example'] },
      short: { tls: true, serverNames: ['*.example'] },
      any: { tls: true },
    });
    expect(choose('a.b.example')).to.equal('exact');
    expect(choose('x.b.example')).to.equal('long');
    expect(choose('x.y.b.example')).to.equal('long');
    expect(choose('b.example')).to.equal('short');
    expect(choose('example')).to.equal('any');
    expect(choose('')).to.equal('any');
    expect(choose(undefined)).to.equal(undefined);
  });

  it('prefers parts for TLS, which plain connections never use', () => {
    const choose = chooser({ tls: { tls: true }, plain: {} });
    expect(choose('a')).to.equal('tls');
    expect(choose(undefined)).to.equal('plain');
    expect(chooser({ plain: {} })('a')).to.equal('plain');
  });

  it('prefers the longest source range, and takes no step back', () => {
    const choose = chooser({
      wide: { sourceRanges: ranges('10.0.0.0/8', '2001:db8::/32') },
      narrow: { sourceRanges: ranges('10.1.0.0/16', '10.9.9.9/32') },
      any: {},
      named: { tls: true, serverNames: ['a'], sourceRanges: ranges('10.0.0.0/8') },
    });
    expect(choose(undefined, '10.2.0.1')).to.equal('wide');
    expect(choose(undefined, '10.1.0.1')).to.equal('narrow');
    expect(choose(undefined, '::ffff:10.9.9.9')).to.equal('narrow');
    expect(choose(undefined, '2001:db8::1')).to.equal('wide');
    expect(choose(undefined, '2001:db9::1')).to.equal('any');
    expect(choose('a', '10.2.0.1')).to.equal('named');
    expect(choose('a', '192.0.2.1')).to.equal(undefined);
    const narrowFirst = chooser({
      narrow: { sourceRanges: ranges('10.1.0.0/16') },
      wide: { sourceRanges: ranges('10.0.0.0/8') },
    });
    expect(narrowFirst(undefined, '10.1.0.1')).to.equal('narrow');
  });

  it('passes clients through that offer only the listed cipher suites', () => {
    const choose = chooser({ legacy: { tls: true, passthroughCiphers: LEGACY }, modern: { tls: true } });
    expect(choose('a', '192.0.2.1', [0x002f, 0x000a])).to.equal('legacy');
    expect(choose('a', '192.0.2.1', [0x002f, 0x00ff, 0x5600, 0x3a3a])).to.equal('legacy');
    expect(choose('a', '192.0.2.1', [0x002f, 0x3a4a])).to.equal('modern');
    expect(choose('a', '192.0.2.1', [0x002f, 0xc02f])).to.equal('modern');
    expect(chooser({ legacy: { tls: true, passthroughCiphers: LEGACY } })('a')).to.equal(undefined);
  });

  it('reads the ClientHello only where it matters', () => {
    expect(needsClientHello([tcpPart(), tcpPart({}, { sourceRanges: ranges('10.0.0.0/8') })])).to.equal(false);
    expect(needsClientHello([tcpPart(), tcpPart({}, { tls: true })])).to.equal(true);
  });
});
