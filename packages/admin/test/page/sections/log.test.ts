import { expect } from 'chai';
import { createContext, createLoggers } from '@edge-gateway/core';
import { proxyAdmin, secrets, type TestPort } from '../../sample.ts';

describe('log page', () => {
  let admin: TestPort;
  before(async () => {
    const log = createLoggers({ destination: { write: () => {} } });
    admin = await proxyAdmin({ context: createContext({ log, secrets }) });
    for (let i = 0; i < 300; i++) log.get('router').info({ i }, `line-${i}-`);
    log.get('router').warn({ authorization: 'Bearer MARKER' }, 'rejected');
  });
  after(() => admin.close());

  it('shows the newest 200 lines, newest first, without secrets', async () => {
    const { text } = await admin.request('/status/log');
    expect(text).to.contain('The newest 200 of 301 lines');
    expect(text.indexOf('rejected')).to.be.lessThan(text.indexOf('line-299-'));
    expect(text).to.contain('line-101-').and.to.not.contain('line-100-').and.to.not.contain('MARKER');
    expect(text).to.contain('aria-current="page">Log</a>');
  });

  it('filters lines by level, and names the levels', async () => {
    const { text } = await admin.request('/status/log?level=warn');
    expect(text).to.contain('The newest 1 of 1 lines').and.contain('rejected').and.not.contain('line-299-');
    expect(text).to.contain('<option value="warn" selected>warn</option>');
    expect((await admin.request('/status/log?level=info')).text).to.contain('of 301 lines');
    expect((await admin.request('/status/log?level=error')).text).to.contain('No line matches.');
  });

  it('filters lines', async () => {
    expect((await admin.request('/status/log?q=line-7')).text).to.not.contain('rejected');
    expect((await admin.request('/status/log?q=nothing')).text).to.contain('No line matches.');
  });
});
