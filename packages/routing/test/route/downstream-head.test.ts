import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Listener } from '@edge-gateway/core';
import { applyHeaderOps } from '../../src/route/options/header-manipulation.ts';
import { compileManagerSettings, type ManagerSettings } from '../../src/route/options/manager-settings.ts';
import type { RecordedConnection } from '../../src/format/record.ts';
import { sanitizeRequestHead, type DownstreamHead } from '../../src/route/downstream-head.ts';
import { recordOf } from '../records.ts';

type Written = NonNullable<Listener['httpOptions']['httpConnectionManagerSettings']>;

const CONNECTION: RecordedConnection = { ...recordOf().connection, directAddress: '10.0.0.9' };

function settingsOf(written: Written = {}): ManagerSettings {
  return compileManagerSettings({ httpConnectionManagerSettings: written });
}

function sanitize(
  rawHeaders: readonly string[],
  connection: RecordedConnection,
  settings: ManagerSettings,
): DownstreamHead {
  return sanitizeRequestHead({ method: 'GET', url: '/', rawHeaders }, connection, settings, () => randomUUID());
}

function take(
  raw: readonly string[],
  written: Written = {},
  connection: Partial<RecordedConnection> = {},
): DownstreamHead {
  return sanitize(['Host', 'a.example', ...raw], { ...CONNECTION, ...connection }, settingsOf(written));
}

/** Values of a header; `undefined` when there is none. */
function value({ headers }: DownstreamHead, name: string): string | undefined {
  const values = headers.filter((_, i) => i % 2 === 1 && headers[i - 1] === name);
  return values.length === 0 ? undefined : values.join(' | ');
}

describe('request head', () => {
  it('writes names in lower case and keeps the order and doubles of end-to-end headers', () => {
    const { headers } = take(['X-B', '1', 'X-A', '2', 'x-b', '3']);
    expect(headers.slice(0, 8)).to.deep.equal(['host', 'a.example', 'x-b', '1', 'x-a', '2', 'x-b', '3']);
  });

  it('contains no Host if the client sent none, or an empty one', () => {
    for (const raw of [[], ['Host', '']]) {
      const head = sanitize([...raw, 'X-A', '1'], CONNECTION, settingsOf());
      expect([head.authority, head.headers.slice(0, 2)]).to.deep.equal(['', ['x-a', '1']]);
    }
  });

  it('removes connection headers and those that Connection names', () => {
    const written = {
      Connection: 'keep-alive, X-Private',
      'Keep-Alive': 'timeout=5',
      'X-Private': '1',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'AAA',
      TE: 'gzip;q=0.5',
      Trailer: 'x',
      'Transfer-Encoding': 'chunked',
      'Content-Length': '1',
      'Proxy-Connection': 'close',
      Expect: '100-continue',
    };
    const { headers } = take(Object.entries(written).flat());
    expect(headers.filter((_, i) => i % 2 === 0)).to.deep.equal([
      'host',
      'x-request-id',
      'x-forwarded-for',
      'x-forwarded-proto',
    ]);
  });

  it('removes the headers that each of two Connection fields names', () => {
    const head = take(['Connection', 'X-A', 'X-A', '1', 'connection', 'close, X-B', 'X-B', '2', 'X-C', '3']);
    expect([value(head, 'x-a'), value(head, 'x-b'), value(head, 'x-c')]).to.deep.equal([undefined, undefined, '3']);
  });

  it('keeps what proxies in front set, although Connection names it', () => {
    const given = ['X-Forwarded-For', '192.0.2.1', 'X-Request-Id', 'id'];
    const head = take([...given, 'Connection', 'close, X-Forwarded-For, X-Request-Id'], {
      useRemoteAddress: false,
      internalAddressConfig: { cidrRanges: [{ addressPrefix: '10.0.0.0', prefixLen: 8 }] },
    });
    expect(head.clientAddress).to.equal('192.0.2.1');
    expect(value(head, 'x-forwarded-for')).to.equal('192.0.2.1');
    expect(value(head, 'x-request-id')).to.equal('id');
    const edge = take([...given, 'Connection', 'X-Forwarded-For'], {
      internalAddressConfig: { cidrRanges: [{ addressPrefix: '10.0.0.0', prefixLen: 8 }] },
    });
    expect(value(edge, 'x-envoy-internal')).to.equal(undefined);
  });

  it('keeps TE: trailers, although Connection names it', () => {
    for (const te of ['trailers', 'Trailers', 'gzip;q=0.5, trailers', 'trailers,deflate', ' trailers ,x']) {
      expect(value(take(['TE', te, 'Connection', 'TE']), 'te'), te).to.equal('trailers');
    }
    expect(value(take(['TE', 'gzip', 'TE', 'trailers', 'TE', 'trailers']), 'te')).to.equal('trailers');
    for (const te of ['gzip', 'x-trailers', 'trailersx', 'trailers;q=1', '']) {
      expect(value(take(['TE', te, 'Connection', 'TE']), 'te'), te).to.equal(undefined);
    }
  });

  it('keeps Proxy-Authorization for policies, in its exact spelling only', () => {
    expect(value(take(['Proxy-Authorization', 'Basic eA==']), 'proxy-authorization')).to.equal('Basic eA==');
    expect(value(take(['Proxy_Authorization', 'Basic eA==']), 'proxy_authorization')).to.equal(undefined);
  });

  it('does not remove headers of the gateway that Connection names', () => {
    const taken = take(['Connection', 'x-forwarded-for, x-request-id, host, x-forwarded-proto']);
    expect(value(taken, 'x-forwarded-for')).to.equal('10.0.0.9');
    expect(value(taken, 'host')).to.equal('a.example');
    expect(value(taken, 'x-request-id')).to.be.a('string');
    expect(value(taken, 'x-forwarded-proto')).to.equal('http');
  });

  it('removes x-envoy- headers and forged spellings of the gateway’s own', () => {
    const forged = [
      'X-Envoy-Upstream-Rq-Timeout-Ms',
      'x_envoy_force_trace',
      'X_Forwarded_For',
      'x-forwarded_proto',
      'content_length',
      'Forwarded',
    ];
    const { headers } = take(forged.flatMap((name) => [name, '1']));
    expect(headers.filter((_, i) => i % 2 === 0)).to.deep.equal([
      'host',
      'x-request-id',
      'x-forwarded-for',
      'x-forwarded-proto',
    ]);
  });

  it('rejects two hosts and an invalid host', () => {
    expect(take(['Host', 'b.example']).rejected).to.equal('ERR_ROUTING_BAD_HOST');
    for (const host of ['a@evil.example', 'a/evil', 'a b', 'a:99999', 'a,b']) {
      expect(sanitize(['Host', host], CONNECTION, settingsOf()).rejected, host).to.equal('ERR_ROUTING_BAD_HOST');
    }
  });

  it('strips the port from the host if configured', () => {
    const taken = sanitize(['Host', 'a.example:8080'], CONNECTION, settingsOf({ stripAnyHostPort: true }));
    expect([taken.authority, value(taken, 'host')]).to.deep.equal(['a.example', 'a.example']);
  });

  const xff: readonly (readonly [
    name: string,
    written: Written,
    given: string | undefined,
    sent: string | undefined,
    client: string,
  ])[] = [
    ['names the peer', {}, undefined, '10.0.0.9', '10.0.0.9'],
    ['appends the peer to what the client says, and believes the peer', {}, '1.1.1.1', '1.1.1.1,10.0.0.9', '10.0.0.9'],
    ['believes one trusted hop', { xffNumTrustedHops: 1 }, '6.6.6.6, 2.2.2.2', '6.6.6.6, 2.2.2.2,10.0.0.9', '2.2.2.2'],
    [
      'believes two trusted hops',
      { xffNumTrustedHops: 2 },
      '6.6.6.6, 1.1.1.1, 2.2.2.2',
      '6.6.6.6, 1.1.1.1, 2.2.2.2,10.0.0.9',
      '1.1.1.1',
    ],
    [
      'believes the peer when there are fewer entries than hops',
      { xffNumTrustedHops: 3 },
      '1.1.1.1',
      '1.1.1.1,10.0.0.9',
      '10.0.0.9',
    ],
    ['believes the peer when the entry is no address', { xffNumTrustedHops: 1 }, 'evil', 'evil,10.0.0.9', '10.0.0.9'],
    ['appends nothing where asked', { skipXffAppend: true }, '1.1.1.1', '1.1.1.1', '10.0.0.9'],
    [
      'believes the last entry behind a proxy',
      { useRemoteAddress: false },
      '6.6.6.6, 1.1.1.1',
      '6.6.6.6, 1.1.1.1',
      '1.1.1.1',
    ],
    [
      'believes one hop more behind a proxy',
      { useRemoteAddress: false, xffNumTrustedHops: 1 },
      '1.1.1.1, 2.2.2.2',
      '1.1.1.1, 2.2.2.2',
      '1.1.1.1',
    ],
  ];
  for (const [name, written, given, sent, client] of xff) {
    it(`x-forwarded-for ${name}`, () => {
      const taken = take(given === undefined ? [] : ['X-Forwarded-For', given], written);
      expect([value(taken, 'x-forwarded-for'), taken.clientAddress]).to.deep.equal([sent, client]);
    });
  }

  it('joins several x-forwarded-for headers before it appends', () => {
    expect(value(take(['x-forwarded-for', '1.1.1.1', 'X-Forwarded-For', '2.2.2.2']), 'x-forwarded-for')).to.equal(
      '1.1.1.1,2.2.2.2,10.0.0.9',
    );
  });

  it('sends the scheme of the connection, or that of a trusted proxy', () => {
    const forged = ['x-forwarded-proto', 'https'];
    expect(value(take(forged), 'x-forwarded-proto')).to.equal('http');
    expect(value(take([], {}, { tls: true }), 'x-forwarded-proto')).to.equal('https');
    expect(value(take(forged, { xffNumTrustedHops: 1 }), 'x-forwarded-proto')).to.equal('https');
    expect(value(take(['x-forwarded-proto', 'gopher'], { useRemoteAddress: false }), 'x-forwarded-proto')).to.equal(
      'http',
    );
  });

  it('keeps x-forwarded-host, drops an untrusted x-forwarded-port, and sends its own port if configured', () => {
    const forged = ['x-forwarded-host', 'first.example', 'x-forwarded-port', '1'];
    expect([value(take(forged), 'x-forwarded-host'), value(take(forged), 'x-forwarded-port')]).to.deep.equal([
      'first.example',
      undefined,
    ]);
    expect(value(take(forged, { appendXForwardedPort: true }), 'x-forwarded-port')).to.equal('8080');
  });

  it('replaces the request id of strangers unless it is to be kept', () => {
    const given = ['x-request-id', 'mine'];
    expect(take(given).requestId).to.match(/^[0-9a-f-]{36}$/);
    expect(take(given, { preserveExternalRequestId: true }).requestId).to.equal('mine');
    expect(take(given, { useRemoteAddress: false }).requestId).to.equal('mine');
    expect(value(take(given, { generateRequestId: false }), 'x-request-id')).to.equal('mine');
    expect(value(take([], { generateRequestId: false }), 'x-request-id')).to.equal(undefined);
  });

  it('drops or rejects names with underscores if configured', () => {
    expect(value(take(['x_a', '1']), 'x_a')).to.equal('1');
    expect(value(take(['x_a', '1'], { headersWithUnderscoresAction: 'DROP_HEADER' }), 'x_a')).to.equal(undefined);
    expect(take(['x_a', '1'], { headersWithUnderscoresAction: 'REJECT_CLIENT_REQUEST' }).rejected).to.equal(
      'ERR_ROUTING_UNDERSCORE',
    );
  });

  it('drops the client certificate header by default', () => {
    const given = ['X-Forwarded-Client-Cert', 'Hash=1'];
    const passed = (written: Written, connection: Partial<RecordedConnection> = {}): string | undefined =>
      value(take(given, written, connection), 'x-forwarded-client-cert');
    expect(passed({})).to.equal(undefined);
    expect(passed({ forwardClientCertDetails: 'SANITIZE_SET' })).to.equal(undefined);
    expect(passed({ forwardClientCertDetails: 'FORWARD_ONLY' })).to.equal(undefined);
    expect(passed({ forwardClientCertDetails: 'FORWARD_ONLY' }, { clientVerified: true })).to.equal('Hash=1');
    expect(passed({ forwardClientCertDetails: 'ALWAYS_FORWARD_ONLY' })).to.equal('Hash=1');
  });

  it('adds via', () => {
    expect(value(take(['via', '1.1 other'], { via: 'edge' }), 'via')).to.equal('1.1 other | edge');
  });

  it('adds early headers before it removes others', () => {
    const { earlyHeaders } = settingsOf({
      earlyHeaderManipulation: {
        headersToAdd: [{ header: { key: 'x-a', value: '%REQ(x-b)%' } }, { header: { key: 'x-c', value: '1' } }],
        headersToRemove: ['x-b', 'x-c'],
      },
    });
    const flat = ['x-b', 'b'];
    applyHeaderOps(flat, earlyHeaders, recordOf({ headers: flat }));
    expect(flat).to.deep.equal(['x-a', 'b']);
  });
});
