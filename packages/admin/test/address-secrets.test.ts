import { expect } from 'chai';
import { keyOf, redact } from '@edge-gateway/core';
import { createControlAdmin, createDeveloperAdmin } from '../src/index.ts';
import { controlOptions, resource, STATE } from './control/control-sample.ts';
import { listen } from './sample.ts';

const ADDRESSES: Record<string, string> = {
  'redis://gw:MARKER%2Fin@redis:6379/2': 'redis://<redacted>@redis:6379/2',
  'rediss://:MARKER@/in@redis': 'rediss://<redacted>@redis',
  'unix://:MARKER-in@/run/redis.sock': 'unix://<redacted>@/run/redis.sock',
  'https://user:MARKER-in@auth.example/@path': 'https://<redacted>@auth.example/@path',
  'HTTPS://MARKER@auth.example': 'HTTPS://<redacted>@auth.example',
};

describe('addresses in resources', () => {
  for (const [written, shown] of Object.entries(ADDRESSES)) {
    it(`are shown without user and password: ${shown}`, () =>
      expect(redact([{ host: written }])).to.deep.equal([{ host: shown }]));
  }

  for (const text of ['https://shop.example/@scope/x', 'redis:6379', 'unix:///run/x@1', 'me@shop.example', 'a//b@c']) {
    it(`are shown unchanged without a password: ${text}`, () => expect(redact(text)).to.equal(text));
  }

  it('show no password on any control-plane port', async () => {
    const configs = Object.keys(ADDRESSES).map((host) => ({
      oauth2: { oidcAuthorizationCode: { clientId: 'shop', session: { redis: { options: { host } } } } },
    }));
    const login = resource('AuthConfig', 'login', { configs });
    const state = { ...STATE, resources: new Map([...STATE.resources, [keyOf('AuthConfig', login.metadata), login]]) };
    const control = await listen(createControlAdmin({ ...controlOptions(), state: () => state }));
    const developer = await listen(createDeveloperAdmin({ state: () => state }));
    const paths = [
      [control, ['/snapshots/edge', '/snapshots/input', '/snapshots/proxies', '/snapshots/xds', '/metrics']],
      [developer, ['/', '/xds', '/api']],
    ] as const;
    let all = '';
    for (const [port, each] of paths) {
      for (const path of each) all += (await port.request(path)).text;
      await port.close();
    }
    expect(all).to.contain('<redacted>@redis');
    expect(all).to.not.contain('MARKER@').and.not.contain('MARKER-in').and.not.contain('MARKER%2F');
  });
});
