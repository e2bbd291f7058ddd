import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { startLoginNodes, type LoginNodes } from './login-nodes.ts';
import { startTraffic, type Flow } from './traffic.ts';

const SKEW_SECONDS = 60;

/** Someone who signs with a key of their own. */
interface Signer {
  readonly kid: string;
  readonly key: KeyObject;
  readonly jwk: object;
}

function createSigner(kid: string): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { kid, key: privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' } };
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('the key set of a JWT provider under traffic', function () {
  this.timeout(60_000);
  let world: LoginNodes;
  let signer: Signer;
  let served: (() => string) | undefined;
  let fetches = 0;
  before(async () => {
    signer = createSigner('one');
    world = await startLoginNodes({ session: '{}' });
    world.idp.intercept = (req, res) => {
      if (req.url !== '/jwks') return false;
      fetches++;
      const text = served ? served() : JSON.stringify({ keys: [signer.jwk] });
      if (text === 'gone') req.socket.destroy();
      else res.writeHead(200, { 'content-type': 'application/json' }).end(text);
      return true;
    };
  });
  after(() => world?.close());
  beforeEach(() => {
    served = undefined;
  });

  let serial = 0;
  function tokenOf({ key, kid }: Signer, offsetSeconds = 0): string {
    const now = Math.floor(Date.now() / 1000) + offsetSeconds;
    const claims = { iss: world.idp.issuer, sub: 'me', jti: String(serial++), nbf: now, exp: now + 30 };
    const input = `${part({ alg: 'RS256', kid })}.${part(claims)}`;
    return `${input}.${createSign('sha256').update(input).sign(key, 'base64url')}`;
  }

  async function ask(token: string, path = '/token') {
    const response = await fetch(`${world.nodes[0]!.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    return { status: response.status, headers: {}, text: await response.text() };
  }

  const firstSeen = (from: () => Signer): Flow => ({
    name: 'first-seen tokens',
    send: async () => ask(tokenOf(from())),
    judge: ({ status }) => status === 200,
  });
  const open: Flow = { name: 'public', send: () => ask('none', '/public'), judge: ({ status }) => status === 200 };

  it('F11: keys change without overlap: nobody is refused, one fetch', async () => {
    await until(async () => (await ask(tokenOf(signer))).status === 200, 'the first token');
    const traffic = startTraffic('F11', [firstSeen(() => signer), open]);
    await wait(50);
    const before = fetches;
    signer = createSigner('two');
    const answers = await Promise.all(Array.from({ length: 50 }, async () => (await ask(tokenOf(signer))).status));
    expect(new Set(answers)).to.deep.equal(new Set([200]));
    expect(fetches - before).to.be.lessThan(3);
    for (const [name, { lost }] of await traffic.stop()) expect(lost, name).to.equal(0);
  });

  it('F12: a broken, empty, huge, missing or HTML key set: the old keys go on', async () => {
    for (const [what, text] of [
      ['broken', '{"keys":['],
      ['empty', '{"keys":[]}'],
      ['HTML', '<html>maintenance</html>'],
      ['10 MiB', `{"keys":[]}${' '.repeat(10 * 1024 * 1024)}`],
      ['gone', 'gone'],
    ] as const) {
      const before = fetches;
      served = () => text;
      const traffic = startTraffic(`F12 ${what}`, [firstSeen(() => signer), open]);
      // Keys are asked for again when they are a second old; what comes then is bad.
      await until(() => fetches > before, 'a fetch');
      for (let i = 0; i < 10; i++) expect((await ask(tokenOf(signer))).status, what).to.equal(200);
      for (const [name, { lost }] of await traffic.stop()) expect(lost, `${what}, ${name}`).to.equal(0);
    }
    const stats = await (await fetch(`${world.nodes[0]!.admin}/stats`)).text();
    expect(Number(/jwt_authn\.jwks_fetch_failed: (\d+)/.exec(stats)?.[1])).to.be.greaterThan(0);
  });

  it('F13: clocks apart: inside the skew tokens are good, outside 401 with the reason', async () => {
    for (const seconds of [-SKEW_SECONDS, -30, 0, 30, SKEW_SECONDS - 2]) {
      expect((await ask(tokenOf(signer, seconds))).status, `${seconds} s`).to.equal(200);
    }
    expect(await ask(tokenOf(signer, 300))).to.include({ status: 401, text: 'Jwt not yet valid' });
    expect(await ask(tokenOf(signer, -300))).to.include({ status: 401, text: 'Jwt is expired' });
  });
});
