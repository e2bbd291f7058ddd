import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import { readClientTls, readServerTls } from '../../src/roles/server-tls.ts';
import { watchTls, type WatchedTls } from '../../src/roles/watched-tls.ts';
import { until } from '../gateway-process.ts';

describe('certificates that are replaced', () => {
  let dir: string;
  let authorities: [Certificates, Certificates];
  let watch: WatchedTls<unknown> | undefined;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'watched-'));
    authorities = [makeCertificates(), makeCertificates()];
  });
  afterEach(() => watch?.close());
  after(() => {
    rmSync(dir, { recursive: true });
    for (const each of authorities) each.remove();
  });
  const [tlsCert, tlsKey] = ['crt', 'key'].map((name) => () => join(dir, `tls.${name}`)) as [
    () => string,
    () => string,
  ];

  it('are used when certificate and key belong together, not before', async () => {
    const [one, two] = authorities;
    const flags = { tlsCert: tlsCert(), tlsKey: tlsKey() };
    copyFileSync(one.cert, flags.tlsCert);
    copyFileSync(one.key, flags.tlsKey);
    const seen: unknown[] = [];
    let reads = 0;
    watch = watchTls(
      () => {
        reads++;
        return readServerTls(flags, '--xds-tls');
      },
      silentLoggers.get('secret'),
      (tls) => void seen.push(tls),
    );
    const first = watch.current;
    copyFileSync(two.cert, flags.tlsCert);
    const before = reads;
    await until(() => reads > before + 1, 'two looks at half a pair');
    expect([watch.current, seen]).to.deep.equal([first, []]);
    copyFileSync(two.key, flags.tlsKey);
    await until(() => seen.length === 1, 'the new pair');
    expect(watch.current).to.equal(seen[0]);
  });

  it('are read for clients', () => {
    const [{ ca, cert, key }] = authorities;
    expect(readClientTls({})).to.equal(undefined);
    expect(readClientTls({ xdsTlsCa: ca, xdsTlsServerName: 'a' })).to.have.all.keys('ca', 'serverName');
    expect(readClientTls({ xdsTlsCa: ca, xdsTlsCert: cert, xdsTlsKey: key })).to.have.all.keys(
      'ca',
      'certificate',
      'key',
    );
    for (const [flags, message] of [
      [{ xdsTlsCert: cert, xdsTlsKey: key }, '--xds-tls-cert and --xds-tls-server-name need --xds-tls-ca'],
      [{ xdsTlsServerName: 'a' }, 'need --xds-tls-ca'],
      [{ xdsTlsCa: ca, xdsTlsCert: cert }, '--xds-tls-cert and --xds-tls-key must be set together'],
      [{ xdsTlsCa: '/missing' }, '--xds-tls-ca /missing: cannot be read: ENOENT'],
      [{ xdsTlsCa: ca, xdsTlsCert: cert, xdsTlsKey: ca }, 'must be a certificate and its private key'],
    ] as const) {
      expect(() => readClientTls(flags))
        .to.throw(message)
        .that.includes({ code: 'ERR_GATEWAY_TLS' });
    }
  });
});
