import { expect } from 'chai';
import { createContext, type Context } from '@edge-gateway/core';
import { describeParsers, exchange, open } from '../listen/serving.ts';
import { attackedGateway, type AttackedGateway } from './gateway.ts';
import { until } from '../../../../test/parts/until.ts';

const POST = 'POST / HTTP/1.1\r\nHost: a\r\n';

describeParsers('statistics of rejected requests', () => {
  let context: Context;
  let gateway: AttackedGateway;
  beforeEach(async () => {
    context = createContext();
    gateway = await attackedGateway({ context });
  });
  afterEach(() => gateway.close());

  const value = (path: string): number => {
    const found = context.metrics
      .list()
      .find(({ name }) => name.path.replace(/^listener\.[^/]*?\.http/, 'listener.http') === path);
    return found && found.type !== 'histogram' ? found.stat.value : 0;
  };
  const counts = () => ({
    total: value('http.http.downstream_rq_total'),
    completed: value('http.http.downstream_rq_completed'),
    '4xx': value('http.http.downstream_rq_4xx'),
    'of the listener': value('listener.http.http.downstream_rq_completed'),
    '4xx of the listener': value('listener.http.http.downstream_rq_4xx'),
  });
  const ONE = { total: 1, completed: 1, '4xx': 1, 'of the listener': 1, '4xx of the listener': 1 };

  for (const [what, bytes] of [
    ['no request line', 'nothing\r\n\r\n'],
    ['a head that is not allowed', `${POST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    ['a broken chunk that comes with the head', `${POST}Transfer-Encoding: chunked\r\n\r\nx\r\n`],
    ['a path that the router refuses', 'GET /a\\b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ] as const) {
    it(`count one request of ${what}`, async () => {
      const answer = await exchange(gateway.port, bytes);
      expect(answer.statuses).to.deep.equal([400]);
      expect(counts()).to.deep.equal(ONE);
    });
  }

  it('count one request of a chunk that breaks while the upstream has the request', async () => {
    const client = await open(gateway.port);
    client.socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`);
    await until(() => gateway.received().includes('POST'));
    client.socket.write('x\r\n');
    await client.closed;
    expect(client.text()).to.match(/^HTTP\/1\.1 400 /);
    await until(() => value('http.http.downstream_rq_active') === 0);
    expect(counts()).to.deep.equal(ONE);
  });
});
