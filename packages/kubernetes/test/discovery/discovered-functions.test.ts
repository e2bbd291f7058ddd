import { createLoggers, type Resource } from '@edge-gateway/core';
import type { ServiceSpec } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { createDiscoveredFunctions, type DiscoveredFunctions } from '../../src/discovery/discovered-functions.ts';
import { startScriptedApi, status, type ScriptedApi } from '../scripted-api.ts';

const log = createLoggers({ destination: { write: () => {} } }).get('config');
const REF = { name: 'web', namespace: 'shop' };
const template = (path: string) => ({ headers: { ':path': { text: path } } });
const FUNCTIONS: ServiceSpec = { rest: { transformations: { find: template('/found'), add: template('/added') } } };
const KUBE = { serviceName: 'web', serviceNamespace: 'shop', servicePort: 80 };

/** The entry of `managedFields` of a manager that owns a path of a function. */
const owning = (manager: string, operation: 'Apply' | 'Update', name: string, header = ':path') => ({
  manager,
  operation,
  fieldsV1: {
    'f:spec': {
      'f:kube': {
        'f:serviceSpec': {
          'f:rest': { 'f:transformations': { [`f:${name}`]: { 'f:headers': { [`f:${header}`]: { 'f:text': {} } } } } },
        },
      },
    },
  },
});

describe('functions of upstreams in a cluster', () => {
  let server: ScriptedApi;
  let functions: DiscoveredFunctions;
  beforeEach(async () => {
    server = await startScriptedApi();
    functions = createDiscoveredFunctions({ client: server.client, log, retryMs: 1 });
    functions.setLeading(true);
  });
  afterEach(async () => {
    await functions.close();
    await server.close();
  });

  /** Responds with an Upstream; resolves with the body of the first write, or with `undefined` once it was read `reads` times. */
  function serve(upstream: object | undefined, reads = Infinity) {
    const written = Promise.withResolvers<any>();
    let left = reads;
    server.onList = (query, res, req) => {
      if (req.method === 'GET' && !upstream) return status(404, 'NotFound')(query, res, req);
      res.setHeader('content-type', 'application/json');
      if (req.method === 'GET') {
        if (--left === 0) res.once('close', () => written.resolve(undefined));
        return void res.end(JSON.stringify(upstream));
      }
      const parts: Buffer[] = [];
      req.on('data', (part: Buffer) => parts.push(part));
      req.on('end', () => {
        res.end('{"metadata":{"name":"web"}}');
        written.resolve({ url: req.url, body: JSON.parse(Buffer.concat(parts).toString()) });
      });
    };
    return written.promise;
  }

  const upstreamOf = (serviceSpec?: object, managedFields: object[] = [], annotations?: object) => ({
    metadata: { name: 'web', namespace: 'shop', uid: 'u', managedFields, ...(annotations && { annotations }) },
    spec: { kube: { ...KUBE, ...(serviceSpec && { serviceSpec }) } },
  });

  it('are applied to the Upstream, and to no other object of its name', async () => {
    const written = serve(upstreamOf());
    functions.set(REF, FUNCTIONS);
    const { url, body } = await written;
    const query = new URL(url, 'http://localhost').searchParams;
    expect([query.get('fieldManager'), query.get('force')]).to.deep.equal(['edge-gateway-functions', 'false']);
    expect(body).to.deep.equal({
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { ...REF, uid: 'u', annotations: { 'discovery.vendor.io/functions': 'rest' } },
      spec: { kube: { serviceSpec: FUNCTIONS } },
    });
  });

  it('leave out those that others have set, and keep own ones', async () => {
    const present = { rest: { transformations: { find: template('/mine'), add: template('/old') } } };
    const fields = [owning('kubectl', 'Update', 'find'), owning('edge-gateway-functions', 'Apply', 'add')];
    const written = serve(upstreamOf(present, fields));
    functions.set(REF, FUNCTIONS);
    const { body } = await written;
    expect(body.spec.kube.serviceSpec.rest.transformations).to.deep.equal({ add: template('/added') });
  });

  it('keep the fields that others have changed in them', async () => {
    const method = { ':method': { text: 'GET' } };
    const written = serve(
      upstreamOf({ rest: { transformations: { find: { headers: { ':path': { text: '/mine' }, ...method } } } } }, [
        owning('edge-gateway-functions', 'Apply', 'find', ':method'),
        owning('kubectl-edit', 'Update', 'find'),
      ]),
    );
    const find = { headers: { ':path': { text: '/found' }, ...method } };
    functions.set(REF, { rest: { transformations: { find, add: template('/added') } } });
    const { body } = await written;
    expect(body.spec.kube.serviceSpec.rest.transformations).to.deep.equal({
      find: { headers: { ':path': { text: '/mine' }, ...method } },
      add: template('/added'),
    });
  });

  it('are not written again if nothing has changed', async () => {
    const one: ServiceSpec = { rest: { transformations: { add: template('/added') } } };
    const own = owning('edge-gateway-functions', 'Apply', 'add');
    const annotation = { 'f:annotations': { 'f:discovery.vendor.io/functions': {} } };
    const fields = [{ ...own, fieldsV1: { ...own.fieldsV1, 'f:metadata': annotation } }];
    const written = serve(upstreamOf(one, fields, { 'discovery.vendor.io/functions': 'rest' }), 2);
    functions.set(REF, one);
    functions.set({ name: 'other', namespace: 'shop' }, one);
    expect(await written).to.equal(undefined);
  });

  it('are removed by an application without them', async () => {
    const fields = [owning('edge-gateway-functions', 'Apply', 'add')];
    const written = serve(upstreamOf({ rest: { transformations: { add: template('/added') } } }, fields));
    functions.delete(REF);
    const { body } = await written;
    expect([body.metadata, body.spec]).to.deep.equal([{ ...REF, uid: 'u' }, {}]);
  });

  it('are not removed if only the annotation claims them and another manager owns the fields', async () => {
    const fields = [owning('kubectl', 'Apply', 'add')];
    const spec = { rest: { transformations: { add: template('/mine') } } };
    const written = serve(upstreamOf(spec, fields, { 'discovery.vendor.io/functions': 'rest' }), 2);
    functions.delete(REF);
    functions.delete({ name: 'other', namespace: 'shop' });
    expect(await written).to.equal(undefined);
  });

  it('are known by the annotation of their Upstream', () => {
    const of = (annotations?: Record<string, string>) =>
      functions.hasDiscovered({ metadata: { ...REF, ...(annotations && { annotations }) } } as Resource);
    expect(of({ 'discovery.vendor.io/functions': 'rest' })).to.equal(true);
    expect([of(), of({ other: 'rest' })]).to.deep.equal([false, false]);
  });
});
