import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createLoggers } from '@edge-gateway/core';
import { until } from '../../../../test/parts/until.ts';
import { createProxyAdmin } from '../../src/index.ts';
import { controlAdmin } from '../control/control-sample.ts';
import { listen, sampleOptions, type TestPort } from '../sample.ts';

interface Followed {
  readonly response: IncomingMessage;
  text(): string;
  until(part: string): Promise<void>;
  leave(): Promise<void>;
}

describe('/logs', () => {
  const log = createLoggers({ destination: { write: () => {} } });
  const options = sampleOptions();
  let admin: TestPort;
  const followed: Followed[] = [];
  before(async () => {
    admin = await listen(createProxyAdmin({ ...options, context: { ...options.context, log } }));
  });
  afterEach(async () => {
    for (const each of followed.splice(0)) await each.leave();
    log.setLevel('info');
  });
  after(() => admin.close());

  it('returns the newest lines on the port of a control plane too', async () => {
    const control = await controlAdmin({ loggers: log });
    log.get('main').info({ secret: 'value' }, 'of the control plane');
    const lines = await (await fetch(`http://127.0.0.1:${control.port}/logs?lines=1`)).text();
    expect(JSON.parse(lines)).to.include({ msg: 'of the control plane' });
    const { status } = await fetch(`http://127.0.0.1:${control.port}/logs?follow&level=debug`);
    expect(status).to.equal(405);
    await control.close();
  });

  const restored = (): number => log.recent!.lines().filter((line) => line.includes('log levels restored')).length;

  async function follow(query = '', method = 'POST'): Promise<Followed> {
    const req = request(`http://127.0.0.1:${admin.port}/logs?follow${query}`, { method, agent: false });
    req.on('error', () => {}).end();
    const [response] = (await once(req, 'response')) as [IncomingMessage];
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('error', () => {});
    const one: Followed = {
      response,
      text: () => text,
      async until(part) {
        while (!text.includes(part)) await once(response, 'data');
      },
      async leave() {
        if (req.destroyed) return;
        const before = restored();
        req.destroy();
        if (query.includes('level=')) await until(() => restored() > before);
        // The server notices the end of a connection before it responds to a later one.
        else await admin.request('/ready');
      },
    };
    followed.push(one);
    return one;
  }

  it('returns the newest lines and changes nothing', async () => {
    for (const n of [1, 2, 3]) log.get('router').info({ n }, 'said');
    const all = (await admin.request('/logs')).text.trim().split('\n');
    expect(all.slice(-3).map((line) => (JSON.parse(line) as { n: number }).n)).to.deep.equal([1, 2, 3]);
    expect((await admin.request('/logs?lines=1')).text).to.match(/^[^\n]*"n":3[^\n]*\n$/);
    expect((await admin.request('/logs?lines=0')).text).to.equal('');
    expect(log.level('router')).to.equal('info');
  });

  it('ignores empty parameters, which its form sends', async () => {
    const { text } = await admin.request('/logs');
    expect(await admin.request('/logs?lines=&level=')).to.include({ status: 200, text });
    const last = await admin.request('/logs?lines=1&level=');
    expect(last).to.include({ status: 200, text: text.slice(text.lastIndexOf('\n', text.length - 2) + 1) });
    expect((await admin.request('/logs?follow&level=debug')).status).to.equal(405);
  });

  it('contains no secret', async () => {
    log.get('main').info({ password: 'MARKER', upstream: { host: 'redis://user:MARKER@redis' } }, 'said');
    expect((await admin.request('/logs')).text)
      .to.contain('redis')
      .and.not.contain('MARKER');
  });

  it('streams new lines while it is followed', async () => {
    log.get('router').info({}, 'before');
    const one = await follow('', 'GET');
    await one.until('before');
    log.get('router').info({}, 'while');
    await one.until('while');
    log.get('router').debug({}, 'unseen');
    expect(one.text()).to.not.contain('unseen');
  });

  it('raises levels while it is followed, and restores them when the client disconnects', async () => {
    log.setLevel('error', 'jwt');
    log.setLevel('trace', 'http');
    const [one, two] = [await follow('&level=debug'), await follow('&level=debug')];
    expect([log.level('router'), log.level('jwt'), log.level('http')]).to.deep.equal(['debug', 'debug', 'trace']);
    log.get('router').debug({}, 'in detail');
    await one.until('in detail');
    const raised = log.recent!.lines().find((each) => each.includes('log levels raised'))!;
    expect(raised.match(/"level"/g), raised).to.have.length(1);
    await one.leave();
    expect(log.level('router')).to.equal('debug');
    await two.leave();
    expect([log.level('router'), log.level('jwt'), log.level('http')]).to.deep.equal(['info', 'error', 'trace']);
  });

  it('keeps a level that was set in the meantime', async () => {
    const one = await follow('&level=debug');
    await admin.request('/logging?router=warning', { method: 'POST' });
    await one.leave();
    expect([log.level('router'), log.level('http')]).to.deep.equal(['warn', 'info']);
  });

  it('restores levels when the admin closes', async () => {
    const other = await listen(createProxyAdmin({ ...options, context: { ...options.context, log } }));
    const req = request(`http://127.0.0.1:${other.port}/logs?follow&level=debug`, { method: 'POST', agent: false });
    req.on('error', () => {}).end();
    await once(req, 'response');
    expect(log.level('router')).to.equal('debug');
    await other.close();
    await until(() => log.level('router') === 'info');
  });

  it('drops lines for a slow reader, and reports how many', async () => {
    const one = await follow();
    one.response.pause();
    const line = 'x'.repeat(10_000);
    for (let i = 0; i < 2_000; i++) {
      log.get('router').info({ i, line }, 'said');
      if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    one.response.resume();
    while (!/"dropped":\d+/.test(one.text())) {
      log.get('router').info({}, 'later');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const note = one
      .text()
      .split('\n')
      .find((each) => each.includes('"dropped"'))!;
    expect(JSON.parse(note)).to.include({ level: 40, logger: 'admin', msg: 'log lines dropped' });
    expect(one.text().length).to.be.below(20_000_000);
  });

  it('rejects more than eight followers', async () => {
    for (let i = 0; i < 8; i++) await follow();
    expect(await admin.request('/logs?follow')).to.include({ status: 503 });
    expect(await admin.request('/logs')).to.include({ status: 200 });
  });

  for (const query of ['?lines=all', '?lines=-1', '?follow&level=loud', '?level=debug']) {
    it(`rejects ${query}`, async () => {
      expect(await admin.request(`/logs${query}`, { method: 'POST' })).to.include({ status: 400 });
      expect(log.level('router')).to.equal('info');
    });
  }

  it('rejects raising levels by GET', async () => {
    expect(await admin.request('/logs?follow&level=debug')).to.include({ status: 405 });
    expect(log.level('router')).to.equal('info');
  });
});
