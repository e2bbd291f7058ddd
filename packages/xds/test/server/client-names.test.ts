import { expect } from 'chai';
import { parseClientNames } from '../../src/index.ts';
import { hasFormOf, isNameOf, nameFor } from '../../src/server/match-client-name.ts';

const PROXY = { namespace: 'gw-system', proxy: 'edge' };

describe('names of clients', () => {
  const matching: [pattern: string, name: string][] = [
    ['spiffe://example.com/ns/{namespace}/proxy/{proxy}', 'spiffe://example.com/ns/gw-system/proxy/edge'],
    ['spiffe://*/ns/{namespace}/sa/{proxy}', 'spiffe://other.test/ns/gw-system/sa/edge'],
    ['{proxy}.{namespace}.svc', 'edge.gw-system.svc'],
    ['{proxy}', 'edge'],
  ];
  for (const [pattern, name] of matching)
    it(`match ${name} by ${pattern}`, () => {
      expect(isNameOf(parseClientNames(pattern)[0]!, name, PROXY)).to.equal(true);
    });

  const different: [pattern: string, name: string][] = [
    ['spiffe://example.com/ns/{namespace}/proxy/{proxy}', 'spiffe://example.com/ns/gw-system/proxy/other'],
    ['spiffe://example.com/ns/{namespace}/proxy/{proxy}', 'spiffe://example.com/ns/other/proxy/edge'],
    ['spiffe://example.com/ns/{namespace}/proxy/{proxy}', 'spiffe://example.com.evil.test/ns/gw-system/proxy/edge'],
    ['spiffe://example.com/ns/{namespace}/proxy/{proxy}', 'spiffe://example.com/ns/gw-system/proxy/edge/x'],
    ['spiffe://example.com/ns/{namespace}/proxy/{proxy}', 'x/spiffe://example.com/ns/gw-system/proxy/edge'],
    ['spiffe://example.com/ns/{namespace}/proxy/{proxy}', 'spiffe://example.com/ns/*/proxy/*'],
    ['spiffe://example.com/ns/{namespace}/proxy/{proxy}', 'spiffe://example.com/ns/gw%2Dsystem/proxy/edge'],
    ['spiffe://example.com/ns/{namespace}/proxy/{proxy}', 'spiffe://example.com/ns/gw-system/proxy/EDGE'],
    ['spiffe://*/ns/{namespace}/proxy/{proxy}', 'spiffe:///ns/gw-system/proxy/edge'],
    ['{proxy}.{namespace}.svc', '*.gw-system.svc'],
    ['{proxy}.{namespace}.svc', 'edge.gw-system.svc.evil.test'],
  ];
  for (const [pattern, name] of different)
    it(`do not match ${name} by ${pattern}`, () => {
      expect(isNameOf(parseClientNames(pattern)[0]!, name, PROXY)).to.equal(false);
    });

  it('are those of one proxy only, even if names contain separators', () => {
    const [dns] = parseClientNames('{proxy}.{namespace}.svc');
    expect(isNameOf(dns!, 'a.b.c.svc', { namespace: 'c', proxy: 'a.b' })).to.equal(false);
    expect(isNameOf(dns!, 'a.b.c.svc', { namespace: 'b.c', proxy: 'a' })).to.equal(false);
    const [uri] = parseClientNames('spiffe://x/ns/{namespace}/proxy/{proxy}');
    expect(isNameOf(uri!, 'spiffe://x/ns/a/proxy/b/c', { namespace: 'a', proxy: 'b/c' })).to.equal(false);
  });

  it('have a form that malformed names share', () => {
    const [pattern] = parseClientNames('spiffe://*/ns/{namespace}/proxy/{proxy}');
    const names = [
      'spiffe://x/ns/a/proxy/b',
      'spiffe://x/ns/*/proxy/',
      'spiffe://x/ns/a/proxy/b/c',
      'spiffe://x/ns/a/proxy',
      'SPIFFE://x/NS/a/Proxy/b',
      'spiffe://x/ns/a/sa/b',
      'localhost',
    ];
    expect(names.filter((name) => !hasFormOf(pattern!, name))).to.deep.equal(['spiffe://x/ns/a/sa/b', 'localhost']);
  });

  it('are shown for a proxy', () => {
    const [uri, dns] = parseClientNames('spiffe://*/ns/{namespace}/proxy/{proxy}, {proxy}.$&.svc');
    expect([uri, dns].map((each) => nameFor(each!, PROXY))).to.deep.equal([
      'spiffe://*/ns/gw-system/proxy/edge',
      'edge.$&.svc',
    ]);
  });

  const invalid: [text: string, reason: string][] = [
    ['', 'invalid name "": 1 or more visible characters are required'],
    ['{proxy},', 'invalid name "": 1 or more'],
    ['gateway-proxy', '{proxy} is required once'],
    ['{proxy}.{proxy}', '{proxy} is required once'],
    ['spiffe://x/{namespace}-{proxy}', 'must be whole segments, separated by slashes'],
    ['{proxy}-{namespace}.svc', 'must be whole segments, separated by dots'],
    ['*x.{proxy}', 'must be whole segments'],
    ['{name}.{proxy}', '{namespace}, {proxy}, * must be whole segments'],
    ['{proxy}. b', 'invalid name "{proxy}. b"'],
  ];
  for (const [text, reason] of invalid)
    it(`reject ${JSON.stringify(text)}`, () => {
      expect(() => parseClientNames(text)).to.throw(reason);
    });
});
