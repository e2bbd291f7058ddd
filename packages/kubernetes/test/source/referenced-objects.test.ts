import type { ServerResponse } from 'node:http';
import { silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { createReferencedObjects, type ReferencedObjects } from '../../src/source/referenced-objects.ts';
import { listOf, startScriptedApi, type ScriptedApi } from '../scripted-api.ts';

const secret = (labels: object, more: object = {}): object => ({
  metadata: { name: 'a', namespace: 'shop', resourceVersion: '1', labels },
  ...more,
});

describe('the content of referenced objects', () => {
  let api: ScriptedApi;
  let objects: ReferencedObjects;
  let held: PromiseWithResolvers<ServerResponse>;
  /** Requests for its content. */
  let reads: number;
  let isWanted: (labels: Readonly<Record<string, string>>) => boolean;
  let delivered: string[];
  /** Selectors of fields of the lists. */
  let lists: string[];

  /** Lists one Secret, and holds the first request for its content. */
  beforeEach(async () => {
    api = await startScriptedApi();
    held = Promise.withResolvers();
    delivered = [];
    lists = [];
    reads = 0;
    isWanted = () => true;
    api.onList = (query, res, req) => {
      if (req.url!.startsWith('/api/v1/namespaces/shop/secrets/a')) {
        if (reads++ === 0) held.resolve(res);
        else void held.promise.then(() => respondWith(res));
      } else if (lists.push(query.get('fieldSelector')!)) listOf(1, [secret({ use: 'yes' })])(query, res, req);
    };
    objects = createReferencedObjects({
      client: api.client,
      kind: 'Secret',
      namespaces: undefined,
      log: silentLoggers.get('config'),
      timing: undefined,
      isWanted: (_key, labels) => isWanted(labels),
      named: () => [],
      onObject: (key, object) => void delivered.push(`${key} ${object ? 'read' : 'gone'}`),
    });
  });
  afterEach(async () => {
    await objects.close();
    await api.close();
  });

  async function respond(labels: object): Promise<void> {
    content = secret(labels, { data: {} });
    const started = objects.start();
    const res = await held.promise;
    await Promise.all([
      started,
      (async () => {
        await objectsChanged();
        respondWith(res);
      })(),
    ]);
  }
  let content: object;
  const respondWith = (res: ServerResponse): void => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(content));
  };
  let objectsChanged: () => Promise<void> = async () => {};
  afterEach(() => void (objectsChanged = async () => {}));

  it('is delivered when it arrives, and read once', async () => {
    await respond({ use: 'yes' });
    expect(delivered).to.deep.equal(['shop/a read']);
    expect(reads).to.equal(1);
    const [selector = ''] = lists;
    expect(selector.split(',')).to.include('type!=kubernetes.io/service-account-token');
  });

  it('is not delivered if nothing refers to it any more', async () => {
    objectsChanged = async () => {
      isWanted = () => false;
      void objects.refresh();
    };
    await respond({ use: 'yes' });
    expect(delivered).to.deep.equal([]);
  });

  it('is not delivered if its labels have become others, which the list does not have yet', async () => {
    isWanted = ({ use }) => use === 'yes';
    await respond({ use: 'no' });
    expect(delivered).to.deep.equal([]);
  });
});
