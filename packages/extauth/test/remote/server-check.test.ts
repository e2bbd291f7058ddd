import { createContext, type CallUpstream } from '@edge-gateway/core';
import { expect } from 'chai';
import { createServerCheck } from '../../src/remote/server-check.ts';
import { SharedClients } from '../../src/remote/shared-clients.ts';
import { settingsOf } from '../../src/settings.ts';

describe('the check of an auth server', () => {
  it('holds its connections until it is closed', async () => {
    const upstream = { name: 'auth', namespace: 'gw-system' };
    const call: CallUpstream = () => Promise.reject(new Error('not called'));
    const context = createContext({ callUpstream: call });
    const clients = new SharedClients();
    const check = createServerCheck({
      place: { type: 'server', name: '', server: {}, upstream },
      settings: settingsOf(),
      context,
      clients,
      extensionsOf: () => ({}),
    });
    const used = (): unknown => {
      const held = clients.hold(upstream, '', context);
      held.release();
      return held.clients;
    };
    const open = used();
    expect(used()).to.equal(open);
    await check.close?.();
    expect(used()).to.not.equal(open);
  });
});
