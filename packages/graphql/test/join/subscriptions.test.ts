import { expect } from 'chai';
import type { GraphQLApiOptions } from '../../src/index.ts';
import { serve, type TestServer } from '../servers.ts';
import { events, frontOf, readyClient, type Front } from '../serve/parts.ts';

const remote = (schemaDefinition: string) => ({
  executableSchema: { schemaDefinition, executor: { remote: { upstreamRef: { name: 'orders' } } } },
});
const APIS: NonNullable<GraphQLApiOptions['apis']> = {
  users: {
    executableSchema: {
      schemaDefinition: `
        type Query { user(id: ID): User @resolve(name: "user") }
        type User { id: ID name: String }
        type Subscription { userAdded: User }`,
      executor: { local: { resolutions: { user: { mockResolver: { syncResponse: { id: '1', name: 'Ada' } } } } } },
    },
  },
  orders: remote(`
    type Query { order(id: ID): Order }
    type Subscription { orderAdded(of: ID): Order }
    type Order { id: ID buyer: User }
    type User { id: ID }`),
};

describe('subscriptions of a stitched API', () => {
  let server: TestServer;
  let front: Front;
  let bodies: any[];

  before(async () => {
    server = await serve(async (req, res) => {
      let text = '';
      for await (const chunk of req) text += String(chunk);
      bodies.push(JSON.parse(text));
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end('event: next\ndata: {"data":{"orderAdded":{"id":"7"}}}\n\nevent: complete\ndata:\n\n');
    });
    front = await frontOf({
      stitchedSchema: {
        subschemas: [
          { name: 'users', typeMerge: { User: { selectionSet: '{ id }', queryName: 'user', args: { id: 'id' } } } },
          { name: 'orders' },
        ],
      },
      apis: APIS,
      upstreams: { orders: server.url },
    });
  });
  beforeEach(() => {
    bodies = [];
  });
  after(async () => {
    await front.close();
    await server.close();
  });

  it('go to the one API that offers them, with variables and fragments, without operations of others', async () => {
    const document = `
      query other { user(id: 1) { name } }
      subscription mine($of: ID) { ...Added }
      fragment Added on Subscription { orderAdded(of: $of) { id } }`;
    const client = await readyClient(front.url);
    client.send({
      type: 'subscribe',
      id: 'a',
      payload: { query: document, operationName: 'mine', variables: { of: '1' } },
    });
    expect((await client.message('next')).payload).to.deep.equal({ data: { orderAdded: { id: '7' } } });
    await client.message('complete');
    client.webSocket.terminate();
    expect(bodies[0].variables).to.deep.equal({ of: '1' });
    expect(bodies[0].query).to.include('subscription mine').and.to.not.include('query other');
  });

  it('are rejected if another API would have to complete the result', async () => {
    const { results, complete } = await events(front.url, 'subscription { orderAdded { id buyer { id name } } }');
    expect(results).to.have.length(1);
    expect(results[0]).to.not.have.property('data');
    expect(results[0].errors[0]).to.deep.equal({
      message: 'All fields of a subscription must belong to one API: results of subscriptions are not joined.',
      extensions: { code: 'ERR_GRAPHQL_OPERATION' },
    });
    expect(complete).to.equal(true);
    expect(bodies).to.deep.equal([]);
  });

  it('of local APIs are not in the schema', async () => {
    const { status, text } = await events(front.url, 'subscription { userAdded { id } }');
    expect(status).to.equal(400);
    expect(JSON.parse(text).errors[0].message).to.equal('Cannot query field "userAdded" on type "Subscription".');
  });

  it('are not offered if no joined API has any', async () => {
    const local = await frontOf({ stitchedSchema: { subschemas: [{ name: 'users' }] }, apis: APIS });
    const { status } = await events(local.url, 'subscription { userAdded { id } }');
    expect(status).to.equal(400);
    await local.close();
  });
});
