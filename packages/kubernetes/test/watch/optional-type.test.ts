import { createLoggers, silentLoggers } from '@edge-gateway/core';
import { createReflector } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { kubernetesSource } from '../../src/source/kubernetes-source.ts';
import { until } from '../../../../test/parts/until.ts';
import { completeOrAbsent } from '../../src/watch/optional-type.ts';
import { listOf, service, startScriptedApi, status, type Reply, type ScriptedApi } from '../scripted-api.ts';

const log = silentLoggers.get('config');
/** Missing types count as deleted only after a time that no test waits for. */
const timing = { backoff: { firstMs: 20, maxMs: 100, resetMs: 60_000 }, unknownMs: 600_000 };
const TYPE = { group: 'gw.vendor.io', version: 'v1', plural: 'settings' };
const GROUP = '/apis/gw.vendor.io/v1';

describe('a type that a cluster may lack', () => {
  let api: ScriptedApi;
  const open: { close(): Promise<void> }[] = [];

  beforeEach(async () => void (api = await startScriptedApi()));
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
    await api.close();
  });

  const group =
    (...names: string[]): Reply =>
    (_query, res) =>
      void res.end(JSON.stringify({ kind: 'APIResourceList', resources: names.map((name) => ({ name })) }));

  /** Responds to requests for the group and for the type; everything else is an empty list. */
  function serve(ofGroup: Reply, ofType: Reply): void {
    api.onList = (query, res, req) => {
      const { pathname } = new URL(req.url!, 'http://localhost');
      const reply =
        pathname === GROUP
          ? ofGroup
          : pathname.startsWith(GROUP) && pathname.endsWith('/settings')
            ? ofType
            : listOf(1, []);
      reply(query, res, req);
    };
  }

  async function start(): Promise<string[]> {
    const keys: string[] = [];
    const onChange = ({ changed }: { changed: ReadonlyMap<string, unknown> }): void =>
      void keys.push(...changed.keys());
    const reflector = createReflector({
      client: api.client,
      type: TYPE,
      log,
      timing,
      select: (object) => object,
      onChange,
    });
    open.push(reflector);
    await completeOrAbsent(reflector, api.client, TYPE, new AbortController().signal);
    return keys;
  }

  it('is listed before the start ends', async () => {
    serve(group('settings'), listOf(1, [service('default', 1)]));
    expect(await start()).to.deep.equal(['shop/default']);
  });

  it('delays no start if it is missing', async () => {
    serve(group('upstreams'), status(404, 'NotFound'));
    expect(await start()).to.deep.equal([]);
  });

  it('delays no start if it is forbidden', async () => {
    serve(status(403, 'Forbidden'), status(403, 'Forbidden'));
    expect(await start()).to.deep.equal([]);
  });

  it('delays no start of a source if the second group of Settings lacks it', async () => {
    serve(group('upstreams'), status(404, 'NotFound'));
    const source = kubernetesSource({ client: api.client, log, timing });
    open.push(source);
    let changes = 0;
    await source.start(() => (changes += 1));
    expect(changes).to.equal(1);
  });

  it('logs no warning about the second group of Settings if it is missing', async () => {
    let attempts = 0;
    serve(group('upstreams'), (...call) => {
      attempts += 1;
      status(404, 'NotFound')(...call);
    });
    const lines: string[] = [];
    const logged = createLoggers({ destination: { write: (line: string) => void lines.push(line) } }).get('config');
    const source = kubernetesSource({ client: api.client, log: logged, timing });
    open.push(source);
    await source.start(() => {});
    // Two reflectors, several times each.
    await until(() => attempts > 5);
    expect(lines.filter((line) => line.includes('failed to watch'))).to.deep.equal([]);
  });

  it('delays no start of a source if the second group of Settings is forbidden', async () => {
    serve(status(403, 'Forbidden'), status(403, 'Forbidden'));
    const source = kubernetesSource({ client: api.client, log, timing });
    open.push(source);
    let changes = 0;
    await source.start(() => (changes += 1));
    expect(changes).to.equal(1);
  });
});
