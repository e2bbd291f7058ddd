import type { IncomingMessage } from 'node:http';
import { createContext, type SnapshotGraphQLApi } from '@edge-gateway/core';
import { expect } from 'chai';
import { createExplorer, type Explorer } from '../../src/index.ts';
import { ask, serveHandler } from '../servers.ts';

const REF = { name: 'books', namespace: 'gw-system' };

function api(field: string): SnapshotGraphQLApi {
  const schemaDefinition = `type Query { ${field}: Int @resolve(name: "one") }`;
  const local = { resolutions: { one: { mockResolver: { syncResponse: 1 } } } };
  return { ref: REF, spec: { executableSchema: { schemaDefinition, executor: { local } } }, subschemas: [] };
}

describe('createExplorer', () => {
  let served: SnapshotGraphQLApi[];
  let explorer: Explorer;
  beforeEach(() => {
    served = [api('a')];
    explorer = createExplorer(() => served, createContext());
  });
  afterEach(() => explorer.close());

  it('serves APIs of the snapshot only, with introspection', async () => {
    expect(explorer.apis()).to.deep.equal([REF]);
    expect(explorer.serve({ ...REF, name: 'other' })).to.equal(undefined);
    const server = await serveHandler(explorer.serve(REF)!);
    const { body } = await ask(server.url, '{ a __schema { queryType { name } } }');
    await server.close();
    expect(body).to.deep.equal({ data: { a: 1, __schema: { queryType: { name: 'Query' } } } });
  });

  it('prepares an API once, and again after a change', async () => {
    const first = explorer.serve(REF);
    expect(explorer.serve(REF)).to.equal(first);
    served = [api('b')];
    const second = explorer.serve(REF)!;
    expect(second).to.not.equal(first);
    const server = await serveHandler(second);
    const { body } = await ask(server.url, '{ b }');
    await server.close();
    expect(body).to.deep.equal({ data: { b: 1 } });
    served = [];
    expect(explorer.serve(REF)).to.equal(undefined);
  });

  it('has an example query of the newest schema', async () => {
    const req = { method: 'GET', url: '/', headers: {}, rawHeaders: [] } as unknown as IncomingMessage;
    expect(await explorer.example(REF, req)).to.equal('{\n  a\n}\n');
    served = [api('b')];
    expect(await explorer.example(REF, req)).to.equal('{\n  b\n}\n');
    expect(await explorer.example({ ...REF, name: 'other' }, req)).to.equal(undefined);
  });
});
