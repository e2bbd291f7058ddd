import { createContext, createLoggers, type Concern, type SecretValue } from '@edge-gateway/core';
import { expect } from 'chai';
import { createRouter } from '../../../src/router.ts';
import { ask, listenOn } from '../../served.ts';
import { directOf, hostOf, snapshotOf, stopAll } from '../../snapshots.ts';

const keyed: Concern = {
  name: 'keyed',
  option: 'keyed',
  stage: 'rbac',
  compile(_options, { secrets }) {
    const secret = secrets.get({ name: 'key', namespace: 'gw-system' });
    return (_req, res) => void res.end(secret ? 'with its secret' : 'without a secret');
  },
};
const SNAPSHOT = snapshotOf([
  hostOf([
    directOf('keyed', { name: 'keyed', matchers: [{ exact: '/keyed' }], options: { keyed: {} } as never }),
    directOf('public', { name: 'public' }),
  ]),
]);

describe('a route that needs a secret', () => {
  afterEach(stopAll);

  for (const [what, received] of [
    ['with its secret', { type: 'Opaque', data: {} }],
    ['without a secret', undefined],
  ] as const)
    it(`returns 503 until secrets are received, then responds ${what}`, async () => {
      let value: SecretValue | undefined;
      let isPending = true;
      let lines = '';
      const secrets = {
        get: () => value,
        get isPending() {
          return isPending;
        },
      };
      const log = createLoggers({ destination: { write: (line) => void (lines += line) } });
      const router = createRouter({ context: createContext({ secrets, log }), concerns: [keyed], accessLog: 'none' });
      router.apply(SNAPSHOT);
      const port = await listenOn(router);
      const pending = await ask(port, '/keyed');
      expect(pending.status).to.equal(503);
      expect(pending.body).to.contain('ERR_ROUTING_SECRETS_PENDING');
      expect((await ask(port, '/')).body).to.equal('public');
      expect(lines).to.not.contain('invalid route');
      [value, isPending] = [received, false];
      router.apply({ ...SNAPSHOT });
      expect(await ask(port, '/keyed')).to.include({ status: 200, body: what });
      await router.close();
    });
});
