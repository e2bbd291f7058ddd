import { X509Certificate } from 'node:crypto';
import { issueCertificate } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { CERTIFICATE, PRIVATE_KEY } from '../../certificate.ts';
import { createContext } from '@edge-gateway/core';
import { controlAdmin, STATE } from '../../control/control-sample.ts';
import { proxyAdmin, NOW, secrets } from '../../sample.ts';

const PATH = '/status/certificates';
const DAY_MS = 86_400_000;
/** The end of the certificate of the sample. */
const END = Date.UTC(2126, 9, 28, 6, 4, 2);

async function pageAt(now: number, path = PATH): Promise<string> {
  const admin = await proxyAdmin({ context: { ...createContext({ secrets }), now: () => now } });
  try {
    return (await admin.request(path)).text;
  } finally {
    await admin.close();
  }
}

describe('certificates page', () => {
  it('shows subject, names, end, source and users of a certificate, and no key', async () => {
    const text = await pageAt(NOW);
    expect(text).to.contain('CN=shop.example');
    expect(text).to.contain('shop.example, *.shop.example, 127.0.0.1, spiffe://cluster.local/ns/a');
    expect(text).to.contain('>2126-10-28</time> <small>in 36490 days</small>');
    expect(text).to.contain('<code>secret gw-system.shop-tls</code>');
    expect(text).to.contain('listener-::-8443');
    expect(text).to.contain('verifies peers');
    for (const line of PRIVATE_KEY.split('\n').slice(1, -2)) expect(text).to.not.contain(line);
    expect(text).to.not.contain(CERTIFICATE.split('\n')[1]);
  });

  const states = [
    [END - 20 * DAY_MS, 'valid', 'good', 'all valid'],
    [END - 14 * DAY_MS, 'expiring', 'warning', '2 expiring soon'],
    [END - 1, 'expiring', 'warning', '2 expiring soon'],
    [END, 'expired', 'bad', '2 not valid'],
    [0, 'not yet valid', 'bad', '2 not valid'],
  ] as const;
  for (const [now, state, tone, figure] of states) {
    it(`shows a certificate as ${state} at ${new Date(now).toISOString()}, also on the overview`, async () => {
      expect(await pageAt(now)).to.contain(`<span class="badge ${tone}">${state}</span>`);
      const overview = await pageAt(now, '/status');
      expect(overview).to.contain(`<a href="${PATH}">2</a> <small>${figure}</small>`);
    });
  }

  for (const [sinceEnd, text] of [
    [DAY_MS - 1, 'less than 1 day ago'],
    [DAY_MS, '1 day ago'],
    [2 * DAY_MS - 1, '1 day ago'],
    [2 * DAY_MS, '2 days ago'],
  ] as const) {
    it(`shows an end ${sinceEnd} ms ago as "${text}"`, async () => {
      expect(await pageAt(END + sinceEnd)).to.contain(`<small>${text}</small>`);
    });
  }

  it('filters by state and by name', async () => {
    expect(await pageAt(NOW, `${PATH}?state=expired`)).to.contain('No certificate matches.');
    expect(await pageAt(NOW, `${PATH}?q=other.example`)).to.contain('No certificate matches.');
    expect(await pageAt(NOW, `${PATH}?q=SHOP-TLS&state=valid`)).to.contain('CN=shop.example');
  });

  it('lists the certificates of flags, and their problems among those of the configuration', async () => {
    const used = (pem: string) => [
      {
        path: '--xds-tls-cert /certs/tls.crt',
        chain: [new X509Certificate(pem)],
        ca: [],
        users: [{ kind: 'process' as const, name: 'this process', serverNames: [] }],
      },
    ];
    const day = 86_400_000;
    const at = (from: number, to: number) =>
      issueCertificate(['gw.example'], { from: new Date(Date.now() + from * day), to: new Date(Date.now() + to * day) })
        .certificate;
    for (const [pem, text] of [
      [at(-3, -1), 'expired at '],
      [at(-3, 13), 'within 14 days'],
      [at(1, 99), 'is not valid before '],
      [at(-3, 99), undefined],
    ] as const) {
      const admin = await controlAdmin({ certificates: () => used(pem) });
      const [page, problems] = [await admin.request(PATH), await admin.request('/problems')];
      await admin.close();
      expect(page.text).to.contain('<code>--xds-tls-cert /certs/tls.crt</code>').and.contain('this process');
      const found = JSON.parse(problems.text).problems.filter(({ code }: { code: string }) => code === 'CERTIFICATE');
      expect(found).to.have.length(text === undefined ? 0 : 1);
      if (text === undefined) continue;
      expect(found[0]).to.include({ severity: 'warning', file: '--xds-tls-cert /certs/tls.crt' });
      expect(found[0].message).to.contain(text);
    }
    const proxy = await proxyAdmin({ certificates: () => used(CERTIFICATE) });
    const { text } = await proxy.request('/certs');
    await proxy.close();
    expect(JSON.parse(text).certificates.at(-1).cert_chain[0].path).to.equal('--xds-tls-cert /certs/tls.crt');
  });

  it('links the problems of certificates whose dates are valid', async () => {
    const issue = { code: 'CERTIFICATE', severity: 'warning', path: [], origin: STATE.issues[0]!.origin } as const;
    const issues = [{ ...issue, message: 'certificate shop.example does not cover a.example' }];
    const admin = await controlAdmin({ state: () => ({ ...STATE, issues }) });
    const [page, overview] = [await admin.request(PATH), await admin.request('/')];
    await admin.close();
    expect(page.text).to.contain('<a href="/status/problems?severity=warning">1 problem of certificates</a>');
    expect(overview.text).to.contain('<small>1 problem</small>').and.not.contain('all valid');
  });

  it('is part of the status page of the control plane', async () => {
    const admin = await controlAdmin();
    const { text } = await admin.request(PATH);
    await admin.close();
    expect(text).to.contain('CN=shop.example');
    expect(text).to.contain(`<a href="${PATH}" aria-current="page">Certificates</a>`);
  });
});
