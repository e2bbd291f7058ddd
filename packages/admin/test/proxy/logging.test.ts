import { LOGGER_NAMES } from '@edge-gateway/core';
import { expect } from 'chai';
import { createProxyAdmin } from '../../src/index.ts';
import { listen, sampleOptions, type TestPort } from '../sample.ts';

describe('/logging', () => {
  let admin: TestPort;
  const options = sampleOptions();
  const { log } = options.context;
  before(async () => (admin = await listen(createProxyAdmin(options))));
  beforeEach(() => log.setLevel('info'));
  after(() => admin.close());
  const post = (query: string, body?: URLSearchParams) => admin.request(`/logging${query}`, { method: 'POST', body });

  it('lists every logger with its level, by GET and by POST', async () => {
    const expected = `active loggers:\n${LOGGER_NAMES.map((name) => `  ${name}: info\n`).join('')}\n`;
    expect((await admin.request('/logging')).text).to.equal(expected);
    expect((await post('')).text).to.equal(expected);
  });

  it('sets every logger with level=', async () => {
    expect((await post('?level=debug')).text)
      .to.contain('  router: debug\n')
      .and.to.contain('  admin: debug\n');
    expect(log.level('upstream')).to.equal('debug');
  });

  it('sets one logger by its name', async () => {
    await post('?router=trace');
    expect([log.level('router'), log.level('http')]).to.deep.equal(['trace', 'info']);
  });

  it('sets several loggers with paths=', async () => {
    await post('?paths=http:warning,jwt:off');
    expect([log.level('http'), log.level('jwt'), log.level('router')]).to.deep.equal(['warn', 'off', 'info']);
  });

  it('accepts the form of its page, in which fields are empty', async () => {
    await post('', new URLSearchParams({ level: '', paths: 'rbac:error' }));
    expect(log.level('rbac')).to.equal('error');
  });

  it('ignores empty parameters, by GET and by POST', async () => {
    const listed = await admin.request('/logging');
    for (const query of ['?level=', '?paths=', '?level=&paths=']) {
      expect(await admin.request(`/logging${query}`), query).to.include({ status: 200, text: listed.text });
      expect(await post(query), query).to.include({ status: 200, text: listed.text });
    }
  });

  const LEVELS = {
    warn: 'warning',
    warning: 'warning',
    panic: 'critical',
    fatal: 'critical',
    critical: 'critical',
    off: 'off',
  };
  for (const [written, shown] of Object.entries(LEVELS)) {
    it(`accepts ${written} and shows ${shown}`, async () => {
      expect((await post(`?http=${written}`)).text).to.contain(`  http: ${shown}\n`);
    });
  }

  const WRONG = {
    '?nothing=debug': 'unknown logger name',
    '?constructor=debug': 'unknown logger name',
    '?level=loud': 'unknown logger level',
    '?router=': 'unknown logger level',
    '?router=DEBUG': 'unknown logger level',
    '?paths=router': 'unknown logger level',
    '?paths=router:debug:x': 'unknown logger level',
    '?paths=router:debug,nothing:debug': 'unknown logger name',
    '?router=debug&jwt=loud': 'unknown logger level',
  };
  for (const [query, message] of Object.entries(WRONG)) {
    it(`rejects ${query} without effect`, async () => {
      const { status, text } = await post(query);
      expect(status).to.equal(400);
      expect(text).to.match(new RegExp(`^error: ${message}\n\nusage: /logging\\?level=<level>`));
      expect(log.level('router')).to.equal('info');
    });
  }

  it('rejects setting levels by GET', async () => {
    const response = await admin.request('/logging?level=debug');
    expect(response).to.include({ status: 405, text: 'Method GET not allowed, POST required.' });
    expect(log.level('router')).to.equal('info');
    for (const query of ['?router=debug', '?paths=router:debug', '?level=debug&router=off']) {
      expect((await admin.request(`/logging${query}`)).status, query).to.equal(405);
      expect(log.level('router'), query).to.equal('info');
    }
  });
});
