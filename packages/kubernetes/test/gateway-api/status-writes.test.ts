import { createLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { condition } from '../../src/gateway-api/conditions.ts';
import { createStatusWrites, type StatusWrites } from '../../src/gateway-api/status-writes.ts';
import type { NewStatus } from '../../src/gateway-api/translation.ts';
import { startScriptedApi, status, type ScriptedApi } from '../scripted-api.ts';

const gateway = (generation: number, reason = 'Accepted'): NewStatus => ({
  kind: 'Gateway',
  object: { metadata: { name: 'gw', namespace: 'apps', uid: 'u', generation, resourceVersion: '1' } },
  status: { conditions: [condition('Accepted', generation, undefined, reason)] },
});
const always = (): boolean => true;

describe('statuses of the Gateway API that cannot be written', () => {
  let api: ScriptedApi;
  let writes: StatusWrites;
  let lines: string[];
  const closing = new AbortController();

  beforeEach(async () => {
    api = await startScriptedApi();
    lines = [];
    const log = createLoggers({ destination: { write: (line: string) => void lines.push(line) } }).get('config');
    writes = createStatusWrites({ client: api.client, log, signal: closing.signal, limit: undefined });
  });
  afterEach(() => api.close());

  it('are written again later if the API server is overloaded', async () => {
    api.onList = status(503, 'ServiceUnavailable');
    expect(await writes.write([gateway(1)], always)).to.equal(false);
    expect(await writes.write([gateway(1)], always)).to.equal(false);
    expect(api.calls.length).to.equal(2);
  });

  it('are reported once and not written again if they are invalid', async () => {
    api.onList = status(422, 'Invalid');
    expect(await writes.write([gateway(1)], always)).to.equal(true);
    expect(await writes.write([gateway(1)], always)).to.equal(true);
    expect([api.calls.length, lines.length]).to.deep.equal([1, 1]);
  });

  it('are written again if the object or the status changes, or the process leads anew', async () => {
    api.onList = status(400, 'BadRequest');
    for (const each of [gateway(1), gateway(2), gateway(2, 'ListenersNotValid')]) await writes.write([each], always);
    expect(api.calls.length).to.equal(3);
    writes.forget();
    await writes.write([gateway(2, 'ListenersNotValid')], always);
    expect(api.calls.length).to.equal(4);
  });

  it('are not written once the process no longer leads', async () => {
    await writes.write([gateway(1)], () => false);
    expect(api.calls).to.deep.equal([]);
  });
});
