import { createLoggers, type ResourceKey, type ResourceStatus } from '@edge-gateway/core';
import { createStatusWriter, type StatusWriter } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { startScriptedApi, status, type Reply, type ScriptedApi } from '../scripted-api.ts';

const UNIT = 'upstreams.gw.vendor.io gw-system/a';
const KEY = 'Upstream/gw-system/a' as ResourceKey;
const statusOf = (reason: string): ReadonlyMap<ResourceKey, ResourceStatus> =>
  new Map([[KEY, { statuses: { 'gw-system': { state: 'Rejected', reason, reportedBy: 'gw' } } } as ResourceStatus]]);

describe('a status that the API server rejects', () => {
  let api: ScriptedApi;
  let writer: StatusWriter;
  let lines: string[];
  const accept: Reply = (_query, res) => res.end('{}');

  beforeEach(async () => {
    api = await startScriptedApi();
    lines = [];
    writer = createStatusWriter({
      client: api.client,
      namespace: 'gw-system',
      log: createLoggers({ destination: { write: (line: string) => void lines.push(line) } }).get('config'),
      isLeader: () => true,
      timing: { intervalMs: 1, maxIntervalMs: 1 },
    });
    writer.observe(UNIT, undefined, true);
  });
  afterEach(async () => {
    await writer.close();
    await api.close();
  });

  for (const code of [400, 422]) {
    it(`is reported once, and not sent again after ${code}`, async () => {
      api.onList = status(code, 'Invalid');
      writer.update(statusOf('first'));
      await until(() => lines.length > 0);
      expect(writer.pending).to.equal(0);
      writer.update(new Map(statusOf('first')));
      writer.observe('upstreams.gw.vendor.io gw-system/other', undefined, true);
      api.onList = accept;
      writer.update(statusOf('second'));
      await until(() => writer.written === 1);
      expect(api.calls.length).to.equal(2);
      expect(lines.length).to.equal(1);
      expect(lines[0]).to.contain('scripted Invalid');
    });
  }

  it('is sent again when the object has changed, and when this process leads anew', async () => {
    api.onList = status(422, 'Invalid');
    writer.update(statusOf('first'));
    await until(() => api.calls.length === 1 && writer.pending === 0);
    writer.observe(UNIT, undefined, true);
    await until(() => api.calls.length === 2 && writer.pending === 0);
    api.onList = accept;
    writer.resume();
    await until(() => writer.written === 1);
  });
});
