import { expect } from 'chai';
import type { DynamicDestination, Listener } from '@edge-gateway/core';
import { explainRequest } from '../../src/explain/explain.ts';
import type { ExplainedDestination } from '../../src/explain/explanation.ts';
import { hostOf, routeOf, snapshotOf } from '../snapshots.ts';

type ForwardProxy = Listener['httpOptions']['dynamicForwardProxy'];

function explained(
  host: string | undefined,
  proxy: ForwardProxy = {},
  dynamic: DynamicDestination = { type: 'host', hostRewriteHeader: 'x-target' },
): ExplainedDestination {
  const destinations = [{ upstream: 'dynamic_forward_proxy', weight: 1, options: {}, dynamic }];
  const routes = [routeOf({ action: { type: 'forward', destinations } })];
  const snapshot = snapshotOf([hostOf(routes)], [], { bindPort: 8080, httpOptions: { dynamicForwardProxy: proxy } });
  const headers: Record<string, string> = host === undefined ? {} : { 'x-target': host };
  const { outcome } = explainRequest(snapshot, { method: 'GET', url: 'http://a.example:8080/pets?x=1', headers });
  if (outcome.type !== 'forward') throw new Error(`outcome is ${outcome.type}`);
  return outcome.destinations[0]!;
}

describe('the explanation of a host that a request names', () => {
  it('shows the host to look up, what names it, and the URL', () => {
    const { namedHost, reply, url } = explained('api.example.com');
    expect(namedHost).to.deep.equal({ name: 'api.example.com', port: 80, from: 'header x-target', needsDns: true });
    expect([reply, url]).to.deep.equal([undefined, 'http://api.example.com:80/pets?x=1']);
  });

  it('uses the port and scheme of TLS with sslConfig', () => {
    const { namedHost, url } = explained('api.example.com', { sslConfig: {} });
    expect([namedHost!.port, url]).to.deep.equal([443, 'https://api.example.com:443/pets?x=1']);
    expect(explained('api.example.com:8443', { sslConfig: {} }).url).to.equal('https://api.example.com:8443/pets?x=1');
  });

  it('names the Host of the request if the header is absent', () => {
    const { namedHost, url } = explained(undefined);
    const from = 'Host of the request: the header x-target is absent';
    expect(namedHost).to.deep.equal({ name: 'a.example', port: 8080, from, needsDns: true });
    expect(url).to.equal('http://a.example:8080/pets?x=1');
    expect(explained(undefined, {}, { type: 'host' }).namedHost!.from).to.equal('Host of the request');
  });

  it('names a fixed host', () => {
    const { namedHost } = explained('other.example', {}, { type: 'host', hostRewrite: 'fixed.example:81' });
    expect(namedHost).to.include({ name: 'fixed.example', port: 81, from: 'hostRewrite of the route' });
  });

  for (const [host, reason] of [
    ['127.0.0.1', '127.0.0.1 is an address of this machine'],
    ['127.1:9000', '127.0.0.1 is an address of this machine'],
    ['127.0.0.1:8080', '127.0.0.1:8080 is the gateway itself'],
    ['10.1.2.3', '10.1.2.3 is not a public address'],
    ['169.254.169.254', '169.254.169.254 is not a public address'],
    ['[::1]', '::1 is an address of this machine'],
    ['[fd00::1]:90', 'fd00::1 is not a public address'],
    ['localhost', '127.0.0.1 is an address of this machine'],
    ['api.localhost:9000', '127.0.0.1 is an address of this machine'],
  ] as const) {
    it(`predicts 403 for ${host}`, () => {
      const { reply, namedHost } = explained(host);
      expect(reply).to.deep.equal({ status: 403, body: 'the requested host is not allowed', reason });
      expect(namedHost!.needsDns).to.equal(false);
    });
  }

  it('predicts nothing against a public address, or one that is allowed', () => {
    const open = explained('93.184.215.14:81');
    expect([open.reply, open.url]).to.deep.equal([undefined, 'http://93.184.215.14:81/pets?x=1']);
    expect(explained('[2606:4700::1111]').url).to.equal('http://[2606:4700::1111]:80/pets?x=1');
    expect(explained('10.1.2.3', { allowedAddresses: ['10.0.0.0/8'] }).reply).to.equal(undefined);
    expect(explained('localhost', { allowedAddresses: ['::1/128'] }).reply).to.equal(undefined);
  });

  it('predicts 503 for an address of a family that is not looked up', () => {
    const { reply } = explained('[2606:4700::1111]', { dnsCacheConfig: { dnsLookupFamily: 'V4_ONLY' } });
    expect(reply).to.deep.include({
      status: 503,
      reason: '2606:4700::1111 has no address that dnsLookupFamily V4_ONLY allows',
    });
  });

  it('predicts 400 for an invalid host, and 503 without the option of the listener', () => {
    const reason = 'the route rewrites the host to a value that is not a host name with an optional port';
    expect(explained('not a host').reply).to.include({ status: 400, reason });
    expect(explained('a.example:99999').reply).to.include({ status: 400 });
    const routes = [
      routeOf({
        action: {
          type: 'forward',
          destinations: [{ upstream: 'd', weight: 1, options: {}, dynamic: { type: 'host' } }],
        },
      }),
    ];
    const { outcome } = explainRequest(snapshotOf([hostOf(routes)]), { method: 'GET', url: 'http://a/' });
    const [destination] = outcome.type === 'forward' ? outcome.destinations : [];
    expect(destination?.reply).to.deep.equal({
      status: 503,
      body: '',
      reason: 'the listener has no httpGateway.options.dynamicForwardProxy',
    });
  });
});
