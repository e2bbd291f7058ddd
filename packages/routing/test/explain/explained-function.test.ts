import { expect } from 'chai';
import type { RestCall } from '@edge-gateway/core';
import { explainRequest } from '../../src/explain/explain.ts';
import type { ExplainedDestination } from '../../src/explain/explanation.ts';
import { endpointOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly options?: object;
}

function explained(calls: readonly RestCall[], { method = 'GET', path = '/api/pets/7', options = {} }: Asked = {}) {
  const destinations = calls.map((rest) => ({ upstream: 'up_gw-system', weight: 1, options: {}, rest }));
  const routes = [routeOf({ options, action: { type: 'forward', destinations } })];
  const snapshot = snapshotOf([hostOf(routes)], [upstreamOf([endpointOf(9001)])]);
  const { outcome } = explainRequest(snapshot, { method, url: `http://a.example${path}` });
  if (outcome.type !== 'forward') throw new Error(`outcome is ${outcome.type}`);
  return outcome.destinations;
}

const shown = ({ method, url, body, reply }: ExplainedDestination) => ({
  request: `${method} ${url}`,
  body,
  ...(reply && { reply }),
});

const FIND: RestCall = {
  functionName: 'findPet',
  parameters: { path: '/api/pets/{id}' },
  template: {
    headers: { ':method': { text: 'GET' }, ':path': { text: '/v2/find/{{ id }}' }, 'x-own': { text: '{{ id }}' } },
    body: { text: '' },
  },
};

describe('the explanation of a function', () => {
  it('shows method, path and body after its template, whose path replaces the rewritten one', () => {
    const [found] = explained([FIND], { method: 'POST', options: { prefixRewrite: '/rewritten' } });
    expect(shown(found!)).to.deep.equal({ request: 'GET http://127.0.0.1:9001/v2/find/7', body: 'empty' });
    expect(Object.fromEntries(found!.headers)).to.include({ 'x-own': '7' });
  });

  it('keeps the requests of several functions apart', () => {
    const other: RestCall = { functionName: 'drop', template: { headers: { ':method': { text: 'DELETE' } } } };
    expect(explained([FIND, other, FIND]).map(shown)).to.deep.equal([
      { request: 'GET http://127.0.0.1:9001/v2/find/7', body: 'empty' },
      { request: 'DELETE http://127.0.0.1:9001/api/pets/7', body: 'that of the request' },
      { request: 'GET http://127.0.0.1:9001/v2/find/7', body: 'empty' },
    ]);
  });

  for (const [template, body] of [
    [{ body: { text: '{"a":1}' } }, 'rendered by the template of the function f'],
    [{ mergeExtractorsToBody: {} }, 'that of the request, with the parameters of the function f'],
    [{ mergeJsonKeys: { jsonKeys: {} } }, 'that of the request, with the keys of the function f'],
    [{ passthrough: {} }, 'that of the request'],
    [{}, 'that of the request'],
  ] as const) {
    it(`names the source of the body of ${JSON.stringify(template)}`, () => {
      expect(explained([{ functionName: 'f', template }])[0]!.body).to.equal(body);
    });
  }

  const NEEDS_BODY: RestCall = {
    functionName: 'add',
    template: { headers: { ':path': { text: '/v2/{{ name }}' } } },
  };

  it('states that a template needs the body, which an explanation does not have', () => {
    const [found] = explained([NEEDS_BODY], { method: 'POST' });
    expect(shown(found!).request).to.equal('POST http://127.0.0.1:9001/api/pets/7');
    expect(found!.body).to.match(
      /^unknown, as are method and path: without the body of the request, the template of the function add fails \(/,
    );
    expect(found!.reply).to.equal(undefined);
  });

  it('predicts 400 where the template fails for a request without a body', () => {
    expect(explained([NEEDS_BODY])[0]!.reply).to.deep.include({ status: 400 });
    const escaping: RestCall = { functionName: 'f', template: { headers: { ':path': { text: '/v2/../admin' } } } };
    expect(explained([escaping])[0]!.reply).to.deep.include({ status: 400 });
  });
});
