import { factsOf, GatewayError, protect, type ComplexityCharge } from '@edge-gateway/core';
import { expect } from 'chai';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { graphqlApi } from '../../src/index.ts';
import { events, readyClient } from '../serve/parts.ts';
import { serve, type TestServer } from '../servers.ts';

function schemaOf(onExecute: () => void): GraphQLSchema {
  const schema = buildSchema(`
    type Query { one: Int list(first: Int): [Item] }
    type Item { n: Int }
    type Subscription { ticks: Int }
  `);
  const { one, list } = schema.getQueryType()!.getFields();
  one!.resolve = () => (onExecute(), 1);
  list!.resolve = () => (onExecute(), [{ n: 1 }]);
  schema.getSubscriptionType()!.getFields()['ticks']!.subscribe = async function* ticks() {
    onExecute();
    yield { ticks: 1 };
  };
  return schema;
}

const DENIED = new GatewayError('The request is over a rate limit.', {
  code: 'ERR_RATE_LIMIT_EXCEEDED',
  status: 429,
  headers: { 'x-denied': 'true' },
});

describe('charges for the complexity of operations', () => {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
  });

  /** An API behind a concern that allows a total complexity, and what it charged and executed. */
  async function limited(total: number): Promise<{ url: string; charged: number[]; executed: () => number }> {
    const charged: number[] = [];
    let executed = 0;
    const charge: ComplexityCharge = async (complexity) => {
      charged.push(complexity);
      return charged.reduce((sum, each) => sum + each, 0) > total ? DENIED : undefined;
    };
    const handler = graphqlApi({ schema: schemaOf(() => executed++), limits: { maxBatchSize: 5 } });
    const front: TestServer = await serve((req, res) => {
      factsOf(req).complexityCharges = [charge];
      handler(req, res, (error) => {
        const { status, headers, code } = error as GatewayError;
        res.writeHead(status, headers).end(code);
      });
    });
    const guarded = protect(handler);
    front.server.on('upgrade', (req, socket, head) => {
      factsOf(req).complexityCharges = [charge];
      guarded.upgrade(req, socket, head);
    });
    open.push(async () => {
      await handler.close?.();
      front.server.closeAllConnections();
      await front.close();
    });
    return { url: front.url, charged, executed: () => executed };
  }

  async function post(url: string, body: unknown): Promise<{ status: number; text: string; headers: Headers }> {
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(url, sent);
    return { status: response.status, text: await response.text(), headers: response.headers };
  }

  it('deny before the operation is executed, with the error of the concern', async () => {
    const { url, charged, executed } = await limited(22);
    const ask = () => post(url, { query: 'query ($n: Int) { list(first: $n) { n } }', variables: { n: 20 } });
    expect((await ask()).status).to.equal(200);
    const { status, text, headers } = await ask();
    expect([status, text, headers.get('x-denied')]).to.deep.equal([429, 'ERR_RATE_LIMIT_EXCEEDED', 'true']);
    expect(charged).to.deep.equal([21, 21]);
    expect(executed()).to.equal(1);
  });

  it('cover GET', async () => {
    const { url, charged } = await limited(1);
    const ask = async () => (await fetch(`${url}?query={one}`)).status;
    expect([await ask(), await ask()]).to.deep.equal([200, 429]);
    expect(charged).to.deep.equal([1, 1]);
  });

  it('sum up a batch, of which nothing is executed if it is denied', async () => {
    const { url, charged, executed } = await limited(14);
    const batch = [{ query: '{ one }' }, { query: '{ list { n } }' }, { query: '{ unknown }' }];
    expect((await post(url, batch)).status).to.equal(200);
    expect(executed()).to.equal(2);
    expect((await post(url, batch)).status).to.equal(429);
    expect(executed()).to.equal(2);
    expect(charged).to.deep.equal([13, 13]);
  });

  it('count a rejected operation as 1', async () => {
    const { url, charged } = await limited(1);
    expect((await post(url, { query: '{ unknown }' })).status).to.equal(400);
    expect((await post(url, { query: '{ unknown' })).status).to.equal(429);
    expect(charged).to.deep.equal([1, 1]);
  });

  it('cover subscriptions by events', async () => {
    const { url, charged, executed } = await limited(1);
    expect((await events(url, 'subscription { ticks }')).results).to.deep.equal([{ data: { ticks: 1 } }]);
    expect((await events(url, 'subscription { ticks }')).status).to.equal(429);
    expect([charged.length, executed()]).to.deep.equal([2, 1]);
  });

  it('cover each operation of a WebSocket, which stays open', async () => {
    const { url, executed } = await limited(12);
    const client = await readyClient(url);
    const subscribe = (id: string, query: string) => client.send({ id, type: 'subscribe', payload: { query } });
    subscribe('1', 'subscription { ticks }');
    await client.message('complete', '1');
    subscribe('2', '{ list(first: 20) { n } }');
    const { payload } = await client.message('error', '2');
    expect(payload).to.deep.equal([
      { message: 'The request is over a rate limit.', extensions: { code: 'ERR_RATE_LIMIT_EXCEEDED' } },
    ]);
    expect(executed()).to.equal(1);
    client.send({ type: 'ping' });
    await client.message('pong');
    client.webSocket.terminate();
  });

  it('are not run for HEAD of an event stream, which executes nothing', async () => {
    const { url, charged } = await limited(0);
    const response = await fetch(`${url}?query=${encodeURIComponent('subscription { ticks }')}`, {
      method: 'HEAD',
      headers: { accept: 'text/event-stream' },
    });
    expect([response.status, charged]).to.deep.equal([200, []]);
  });
});
