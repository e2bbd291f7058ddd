import { createLoggers } from '@edge-gateway/core';
import { toStruct } from '@edge-gateway/core/grpc';
import { expect } from 'chai';
import { TYPE } from '../../src/resources/index.ts';
import { startServer } from '../planes.ts';
import { service, startStates } from '../states.ts';
import { openDelta } from './scripted-client.ts';

describe('the namespace of a proxy', () => {
  const opened: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0).toReversed()) await each.close();
  });

  it('is logged if it is not that of its control plane, and the proxy is served', async () => {
    const states = await startStates({ a: service('a', 'one') });
    const lines: string[] = [];
    const log = createLoggers({ level: 'info', destination: { write: (line) => void lines.push(line) } });
    const server = await startServer({ log });
    opened.push(states, server);
    server.publish(states.current());
    for (const [id, role] of [
      ['own', 'gw-system~gateway-proxy'],
      ['foreign', 'edge~gateway-proxy'],
    ] as const) {
      const client = openDelta(server.port);
      opened.push(client);
      client.send({ node: { id, metadata: toStruct({ role }) }, type_url: TYPE.virtualHost });
      expect((await client.response(0)).resources).to.have.length(1);
    }
    const warnings = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'proxy has another namespace than its control plane');
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include({ node: 'foreign', namespace: 'edge', expected: 'gw-system' });
  });
});
