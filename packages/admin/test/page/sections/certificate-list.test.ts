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

  it('filters by state and by name', async () => {
    expect(await pageAt(NOW, `${PATH}?state=expired`)).to.contain('No certificate matches.');
    expect(await pageAt(NOW, `${PATH}?q=other.example`)).to.contain('No certificate matches.');
    expect(await pageAt(NOW, `${PATH}?q=SHOP-TLS&state=valid`)).to.contain('CN=shop.example');
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
