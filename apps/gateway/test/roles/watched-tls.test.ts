import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoggers, silentLoggers } from '@edge-gateway/core';
import { issueCertificate } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import { readClientTls, readServerTls, serverCertificates } from '../../src/roles/server-tls.ts';
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
      { log: silentLoggers.get('secret'), shown: () => [], onChange: (tls) => void seen.push(tls) },
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

  it('are reported if peers reject them, at the start and when they are replaced', async () => {
    const flags = { tlsCert: tlsCert(), tlsKey: tlsKey() };
    const write = (from: number, to: number): void => {
      const issued = issueCertificate(['gw.example'], { from: new Date(from), to: new Date(to) });
      writeFileSync(flags.tlsCert, issued.certificate);
      writeFileSync(flags.tlsKey, issued.key);
    };
    const lines: { readonly level: number; readonly msg: string }[] = [];
    const log = createLoggers({ destination: { write: (line) => void lines.push(JSON.parse(line)) } });
    const now = Date.now();
    const [day, path] = [86_400_000, `--xds-tls-cert ${flags.tlsCert}`];
    const messages = () => lines.filter(({ level }) => level === 40).map(({ msg }) => msg);
    write(now - 3 * day, now - day);
    const shown = (tls: ReturnType<typeof readServerTls>) => serverCertificates(tls, flags, '--xds-tls');
    const watched = watchTls(() => readServerTls(flags, '--xds-tls'), { log: log.get('secret'), shown });
    watch = watched;
    expect(messages()).to.have.length(1);
    expect(messages()[0]).to.match(new RegExp(`^${path}: certificate .* expired at `));
    expect(watched.certificates().map((each) => each.path)).to.deep.equal([path]);

    write(now - day, now + 13 * day);
    await until(() => messages().some((text) => text.includes('within 14 days')), 'the next warning');
    write(now + day, now + 90 * day);
    await until(() => messages().some((text) => text.includes('is not valid before')), 'the last warning');
    const before = messages().filter((text) => text.startsWith(path)).length;
    write(now - day, now + 90 * day);
    await until(() => watched.certificates()[0]!.chain[0]!.validFromDate.getTime() < now, 'the valid certificate');
    expect(messages().filter((text) => text.startsWith(path))).to.have.length(before);
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
