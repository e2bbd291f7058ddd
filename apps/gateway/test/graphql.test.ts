import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { startBookinfo } from '@edge-gateway/demo';
import { expect } from 'chai';
import { staticUpstream } from '../../../test/parts/static-upstream.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const DEMO = new URL('../demo/graphql.yaml', import.meta.url);
const QUERY = '{ productsForHome { id title author pages year reviews { reviewer text } ratings { reviewer score } } }';

/** Posts to a host of its own, which fetch cannot name. */
function post(url: string, body: string): Promise<{ status: number; headers: object; body: any }> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'graphql.localhost', 'content-type': 'application/json' };
    const req = request(`${url}/graphql`, { method: 'POST', headers }, (res) => {
      let text = '';
      res.on('data', (chunk) => (text += chunk));
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, body: JSON.parse(text || 'null') }));
    });
    req.on('error', reject);
    req.end(body);
  });
}

describe('a GraphQLApi in the gateway', () => {
  const gateway = new GatewayProcess();
  let backend: Awaited<ReturnType<typeof startBookinfo>>;

  before(async () => {
    backend = await startBookinfo();
    gateway.write('graphql.yaml', readFileSync(DEMO, 'utf8'));
    gateway.write('upstreams.yaml', staticUpstream('bookinfo', backend.port));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('returns books, details, reviews and ratings for the query of the demo', async () => {
    const { status, body } = await post(gateway.url, JSON.stringify({ query: QUERY }));
    expect(status).to.equal(200);
    expect(body.errors).to.equal(undefined);
    expect(body.data.productsForHome).to.have.length(2);
    expect(body.data.productsForHome[0]).to.deep.include({
      id: '0',
      title: 'The Comedy of Errors',
      author: 'William Shakespeare',
      pages: 200,
      year: 1595,
      ratings: [
        { reviewer: 'Reviewer1', score: 5 },
        { reviewer: 'Reviewer2', score: 4 },
      ],
    });
    expect(body.data.productsForHome[0].reviews[0].reviewer).to.equal('Reviewer1');
  });

  it('counts requests and resolutions under the name of the API', async () => {
    const text = await (await fetch(`${gateway.admin}/stats/prometheus`)).text();
    expect(text).to.match(/envoy_gw_system_bookinfo_graphql_rq_total\S* \d+/);
    expect(text).to.match(/envoy_gw_system_bookinfo_graphql_reviews_rest_resolver_total_resolutions\S* \d+/);
  });

  it('applies the header changes of the route, also to rejected requests', async () => {
    const routed = readFileSync(DEMO, 'utf8').replace(
      'graphqlApiRef:',
      'options: { headerManipulation: { responseHeadersToAdd: [{ header: { key: x-added, value: here } }] } }\n        graphqlApiRef:',
    );
    gateway.write('graphql.yaml', routed);
    await until(async () => {
      const { headers } = await post(gateway.url, JSON.stringify({ query: '{ productsForHome { id } }' }));
      return (headers as Record<string, string>)['x-added'] === 'here';
    }, 'the header');
    const { status, headers } = await post(gateway.url, '{');
    expect(status).to.equal(400);
    expect(headers).to.include({ 'x-added': 'here', 'content-type': 'application/json; charset=utf-8' });
  });

  it('applies a changed API without a restart', async () => {
    gateway.write('graphql.yaml', readFileSync(DEMO, 'utf8').replaceAll('productsForHome', 'books'));
    await until(async () => {
      const { body } = await post(gateway.url, JSON.stringify({ query: '{ books { id } }' }));
      return body.data?.books.length === 2;
    }, 'the renamed field');
  });
});
