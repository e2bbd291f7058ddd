import { expect } from 'chai';
import { listenerMessage } from '../../src/envoy/listener.ts';
import type { Listener } from '../../src/index.ts';

describe('a listener of an Envoy', () => {
  it('has the socket options of the Gateway', () => {
    const socketOptions = [
      { description: 'user timeout', level: 6, name: 18, intValue: 30_000, state: 'STATE_LISTENING' },
      { level: 1, name: 9, bufValue: 'AQAAAA==' },
    ];
    const listener = { name: 'l', bindAddress: '::', bindPort: 80, options: { socketOptions }, parts: [] };
    const context = { secrets: { get: () => undefined }, settings: { requireRbac: false } };
    const { socket_options: options } = listenerMessage(listener as unknown as Listener, context as never);
    expect(options).to.deep.equal([
      { description: 'user timeout', level: 6, name: 18, int_value: 30_000, state: 'STATE_LISTENING' },
      { level: 1, name: 9, buf_value: 'AQAAAA==' },
    ]);
  });
});
