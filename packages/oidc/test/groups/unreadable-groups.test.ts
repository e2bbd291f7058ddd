import { expect } from 'chai';
import { groupIds, type Reply } from '../../../../test/parts/microsoft.ts';
import { until } from '../../../../test/parts/until.ts';
import { holdCallTimeouts } from '../parts/call-timeouts.ts';
import { OID, SECRET, TENANT, failureOf, startCloud, type Cloud } from './harness.ts';

describe('groups that are unavailable', () => {
  let cloud: Cloud;
  beforeEach(async () => {
    cloud = await startCloud();
  });
  afterEach(() => cloud.close());

  const denied = { error: { code: 'Authorization_RequestDenied', message: `${SECRET} says more` } };
  const graphFailures: Record<string, readonly [Reply, RegExp]> = {
    400: [{ status: 400, body: { error: { code: 'Directory_ResultSizeLimitExceeded' } } }, /400 Directory_ResultSize/],
    401: [{ status: 401, body: { error: { code: 'InvalidAuthenticationToken' } } }, /401 InvalidAuthenticationToken/],
    403: [{ status: 403, body: denied }, /403 Authorization_RequestDenied; the application requires/],
    404: [{ status: 404, body: { error: { code: 'Request_ResourceNotFound' } } }, /404/],
    429: [{ status: 429 }, /429/],
    500: [{ status: 500, body: `<h1>${SECRET}</h1>` }, /status 500$/],
    'a redirect': [{ status: 302, headers: { location: 'https://example.com' } }, /302/],
    'a page of HTML': [{ body: '<html></html>' }, /not a JSON object/],
    'half an answer': [{ body: { value: groupIds(250) }, isCut: true }, /unreachable/],
    'half of the JSON': [{ body: '{"value":["a"' }, /not a JSON object/],
    'a list': [{ body: ['a'] }, /not a JSON object/],
    'no list of ids': [{ body: { value: 'a' } }, /not a list of ids/],
    'ids that are none': [{ body: { value: ['a', { id: 'b' }] } }, /not a list of ids/],
    'more than 512 KiB': [{ body: { value: groupIds(14_000) } }, /512 KiB/],
  };
  const tokenFailures: Record<string, readonly [Reply, RegExp]> = {
    401: [{ status: 401, body: { error: 'invalid_client', error_description: SECRET } }, /401 invalid_client$/],
    400: [{ status: 400, body: { error: `evil\n${'x'.repeat(999)}` } }, /400 evil_x{55}$/],
    500: [{ status: 500, body: 'oops' }, /500/],
    'a page of HTML': [{ body: '<html></html>' }, /not a JSON object/],
    'no token': [{ body: { token_type: 'Bearer' } }, /invalid token/],
    'a token that breaks a header': [{ body: { access_token: 'a\r\nx: y' } }, /invalid token/],
  };

  for (const [name, [reply, why]] of Object.entries(graphFailures))
    it(`reject the request, and are never treated as none, if Graph returns ${name}`, async () => {
      cloud.microsoft.graph = () => reply;
      const { message } = await failureOf(cloud.lookup().complete(cloud.claims()));
      expect(message).to.match(why).and.not.contain(SECRET).and.not.contain('the-app-token');
    });

  for (const [name, [reply, why]] of Object.entries(tokenFailures))
    it(`reject the request if the token response is ${name}`, async () => {
      cloud.microsoft.token = () => reply;
      const { message } = await failureOf(cloud.lookup().complete(cloud.claims()));
      expect(message).to.match(why).and.not.contain(SECRET);
      expect(cloud.microsoft.graphCalls).to.have.length(0);
    });

  it('reject the request if a later page fails', async () => {
    const { microsoft } = cloud;
    microsoft.graph = ({ method }) =>
      method === 'GET'
        ? { status: 500 }
        : { body: { value: ['a'], '@odata.nextLink': `${microsoft.addresses.graph}/more` } };
    expect((await failureOf(cloud.lookup().complete(cloud.claims()))).message).to.contain('500');
    expect(microsoft.graphCalls).to.have.length(2);
  });

  it('reject the request if Graph is unreachable', async () => {
    const lookup = cloud.lookup();
    await cloud.microsoft.close();
    expect((await failureOf(lookup.complete(cloud.claims()))).message).to.contain('unreachable');
  });

  it('reject the request if Graph takes more than 5 seconds', async () => {
    const over = new AbortController();
    cloud.microsoft.graph = () =>
      new Promise((resolve) => over.signal.addEventListener('abort', () => resolve({ body: {} })));
    const timeouts = holdCallTimeouts();
    const failed = failureOf(cloud.lookup().complete(cloud.claims()));
    await until(() => cloud.microsoft.graphCalls.length > 0, 'the call of Graph');
    timeouts.expire();
    timeouts.restore();
    expect((await failed).message).to.contain('no response in time');
    over.abort();
  });

  it('are requested again a second after a failure', async () => {
    const { microsoft } = cloud;
    const lookup = cloud.lookup();
    microsoft.graph = () => ({ status: 500 });
    await Promise.all(Array.from({ length: 20 }, () => failureOf(lookup.complete(cloud.claims()))));
    await failureOf(lookup.complete(cloud.claims()));
    expect(microsoft.graphCalls).to.have.length(1);
    microsoft.graph = () => ({ body: { value: ['a'] } });
    cloud.clock += 1001;
    expect((await lookup.complete(cloud.claims())).groups).to.deep.equal(['a']);
  });

  it('are requested after Retry-After, although the clock was set back', async () => {
    const { microsoft } = cloud;
    const lookup = cloud.lookup();
    microsoft.graph = () => ({ status: 429, headers: { 'retry-after': '30' } });
    await failureOf(lookup.complete(cloud.claims({ iat: 1 })));
    microsoft.graph = () => ({ body: { value: ['a'] } });
    cloud.clock -= 31_000;
    expect((await lookup.complete(cloud.claims({ iat: 1 }))).groups).to.deep.equal(['a']);
  });

  it('are not requested before Retry-After, but after a minute at the latest', async () => {
    const { microsoft } = cloud;
    const lookup = cloud.lookup();
    microsoft.graph = () => ({ status: 429, headers: { 'retry-after': '7200' } });
    await failureOf(lookup.complete(cloud.claims({ iat: 1 })));
    microsoft.graph = () => ({ body: { value: ['a'] } });
    cloud.clock += 59_000;
    expect((await failureOf(lookup.complete(cloud.claims({ iat: 2 })))).message).to.contain(
      'Retry-After has not passed',
    );
    expect(microsoft.graphCalls).to.have.length(1);
    cloud.clock += 2000;
    expect((await lookup.complete(cloud.claims({ iat: 1 }))).groups).to.deep.equal(['a']);
  });

  const strangers: Record<string, Record<string, unknown>> = {
    'names nobody': { oid: undefined },
    'names a path': { oid: '../../me' },
    'names a list': { oid: [OID] },
    'is of another tenant': { tid: TENANT.replace('8d', '9d') },
  };
  for (const [name, more] of Object.entries(strangers))
    it(`reject the request if the token ${name}`, async () => {
      await failureOf(cloud.lookup().complete(cloud.claims(more)));
      expect(cloud.microsoft.tokenCalls).to.have.length(0);
    });
});
