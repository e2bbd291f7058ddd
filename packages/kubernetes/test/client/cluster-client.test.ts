import { once } from 'node:events';
import { ApiError, isApiError } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { listOf, startScriptedApi, status, type ScriptedApi } from '../scripted-api.ts';

describe('the client of a cluster', () => {
  let api: ScriptedApi;
  beforeEach(async () => {
    api = await startScriptedApi();
  });
  afterEach(() => api.close());

  it('sends query, body and credentials', async () => {
    let seen: unknown;
    api.onList = async (query, res, req) => {
      const [body] = await once(req, 'data');
      seen = [req.method, query.toString(), req.headers.authorization, req.headers['content-type'], String(body)];
      listOf(1, [])(query, res, req);
    };
    const contentType = 'application/apply-patch+yaml';
    await api.client.send({
      method: 'PATCH',
      path: '/x',
      query: { a: 'b c', d: undefined },
      body: { e: 1 },
      contentType,
    });
    expect(seen).to.deep.equal(['PATCH', 'a=b+c', 'Bearer first-token', contentType, '{"e":1}']);
  });

  it('rejects with the status and reason of the API server', async () => {
    api.onList = status(409, 'Conflict');
    const error = await api.client.send({ path: '/x' }).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ApiError).and.include({ apiStatus: 409, reason: 'Conflict' });
    expect((error as Error).message).to.equal('GET /x: scripted Conflict');
    expect(isApiError(error, 409)).to.equal(true);
    expect(isApiError(error, 404)).to.equal(false);
  });

  it('rejects the page of a proxy without its text', async () => {
    api.onList = (_query, res) => res.writeHead(502).end('<html>secret</html>');
    const error = await api.client.send({ path: '/x' }).catch((caught: unknown) => caught as Error);
    expect((error as Error).message).to.equal('GET /x: status 502');
  });

  it('gives up a response that does not come', async () => {
    api.onList = () => {};
    const error = await api.client.send({ path: '/x', timeoutMs: 50 }).catch((caught: unknown) => caught as Error);
    expect((error as Error).name).to.equal('TimeoutError');
  });

  it('rejects a response that is larger than the caller accepts', async () => {
    api.onList = listOf(1, [{ text: 'x'.repeat(1000) }]);
    const error = await api.client.send({ path: '/x', maxBytes: 500 }).catch((caught: unknown) => caught as Error);
    expect((error as Error).message).to.equal('GET /x: the response is larger than 500 bytes');
  });

  it('has the namespace of its context', () => {
    expect(api.client.namespace).to.equal('shop');
  });

  it('sends at most as many requests as its limit allows', async () => {
    const limited = await startScriptedApi({ limit: { qps: 50, burst: 5 } });
    const began = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => limited.client.send({ path: '/x' })));
    // 5 at once, then 15 at 50 per second.
    expect(performance.now() - began).to.be.greaterThan(280);
    await limited.close();
  });
});
