import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Listener } from '@edge-gateway/core';
import { compileCertificateForwarding, forwardedCertificate } from '../../../src/route/options/client-certificate.ts';
import { served, type Served } from '../../served.ts';
import { LISTENER } from '../../snapshots.ts';

type Settings = NonNullable<Listener['httpOptions']['httpConnectionManagerSettings']>;

const read = (name: string): string => readFileSync(join(import.meta.dirname, 'certificates', name), 'utf8');
const pair = (name: string) => ({ cert: read(`${name}.crt`), key: read(`${name}.key`) });
const hashOf = (name: string): string =>
  new X509Certificate(read(`${name}.crt`)).fingerprint256.replaceAll(':', '').toLowerCase();
const pemOf = (name: string): string => encodeURIComponent(read(`${name}.crt`));
const BY = 'By=spiffe://gw.example/sa/gateway';
const ALL = { subject: true, cert: true, chain: true, dns: true, uri: true };

describe('x-forwarded-client-cert', () => {
  let gateway: Served;
  let server: Server;

  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await gateway.close();
  });

  /** Sends a request over TLS and returns the header that the upstream received. */
  async function forwarded(settings: Settings, who: string | undefined, given?: string): Promise<unknown> {
    gateway = await served({ http: { httpConnectionManagerSettings: settings } });
    const handler = gateway.router.listener(LISTENER);
    const trust = { ca: read('ca.crt'), requestCert: true, rejectUnauthorized: false };
    server = createServer({ ...pair('server'), ...trust }, (req, res) => handler(req, res, () => res.destroy()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = { ca: read('ca.crt'), servername: 'localhost', ...(who !== undefined && pair(who)), agent: false };
    const headers = { host: 'a.example', ...(given !== undefined && { 'x-forwarded-client-cert': given }) };
    const body = await new Promise<string>((resolve, reject) => {
      const sent = request({ port, host: 'localhost', path: '/', headers, ...client }, (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        res.on('end', () => resolve(text));
      });
      sent.on('error', reject).end();
    });
    return JSON.parse(body).headers['x-forwarded-client-cert'];
  }

  const set = (setCurrentClientCertDetails: Settings['setCurrentClientCertDetails']): Settings => ({
    forwardClientCertDetails: 'SANITIZE_SET',
    setCurrentClientCertDetails,
  });

  it('SANITIZE_SET: replaces what the client sent by the hash of its certificate', async () => {
    expect(await forwarded(set(undefined), 'client', 'forged')).to.equal(`${BY};Hash=${hashOf('client')}`);
  });

  it('APPEND_FORWARD: appends to what the client sent', async () => {
    const settings = { ...set(undefined), forwardClientCertDetails: 'APPEND_FORWARD' } as const;
    expect(await forwarded(settings, 'client', 'Hash=1')).to.equal(`Hash=1,${BY};Hash=${hashOf('client')}`);
  });

  it('has all details', async () => {
    expect(await forwarded(set(ALL), 'client')).to.equal(
      [
        BY,
        `Hash=${hashOf('client')}`,
        `Cert="${pemOf('client')}"`,
        `Chain="${pemOf('client')}"`,
        'Subject="CN=alice,OU=Web \\"Team\\",O=Shop\\, Inc.,C=DE"',
        'URI=spiffe://shop.example/sa/alice',
        'URI="https://shop.example/a?b=c;d"',
        'DNS=alice.shop.example',
        'DNS=b.shop.example',
      ].join(';'),
    );
  });

  it('has an empty URI if the certificate has none', async () => {
    const settings = set({ subject: true, uri: true, dns: true });
    expect(await forwarded(settings, 'plain')).to.equal(`${BY};Hash=${hashOf('plain')};Subject="CN=plain";URI=`);
  });

  for (const mode of ['SANITIZE', 'FORWARD_ONLY', 'APPEND_FORWARD', 'SANITIZE_SET'] as const)
    it(`${mode}: removes the header of a client without a certificate`, async () => {
      const settings = { forwardClientCertDetails: mode, setCurrentClientCertDetails: ALL };
      expect(await forwarded(settings, undefined, 'Hash=1')).to.equal(undefined);
    });

  it('removes the header of a client whose certificate is not trusted', async () => {
    const settings = { ...set(ALL), forwardClientCertDetails: 'APPEND_FORWARD' } as const;
    expect(await forwarded(settings, 'untrusted', 'Hash=1')).to.equal(undefined);
  });

  it('SANITIZE: removes the header in spite of a certificate', async () => {
    expect(await forwarded({ setCurrentClientCertDetails: ALL }, 'client', 'Hash=1')).to.equal(undefined);
  });

  it('FORWARD_ONLY: keeps the header of a client with a certificate', async () => {
    expect(await forwarded({ forwardClientCertDetails: 'FORWARD_ONLY' }, 'client', 'Hash=1')).to.equal('Hash=1');
  });
});

describe('the names of x-forwarded-client-cert', () => {
  it('are quoted and escaped if they contain quotes or backslashes', () => {
    // Node writes such names as JSON.
    const subjectAltName = `URI:${JSON.stringify('a\\')}, URI:${JSON.stringify('b"c;Hash=1')}, URI:d`;
    const peer = { fingerprint256: 'AB:CD', subjectAltName } as X509Certificate;
    const forwarding = compileCertificateForwarding({
      forwardClientCertDetails: 'SANITIZE_SET',
      setCurrentClientCertDetails: { uri: true },
    });
    const connection = { clientVerified: true, certificates: { peer, own: undefined } };
    expect(forwardedCertificate(undefined, connection, forwarding)).to.equal(
      String.raw`Hash=abcd;URI="a\\";URI="b\"c;Hash=1";URI=d`,
    );
  });
});
