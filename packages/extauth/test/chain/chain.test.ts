import { setTimeout as wait } from 'node:timers/promises';
import {
  createContext,
  createLoggers,
  type AuthAllowed,
  type AuthDecision,
  type AuthMethodKind,
  type AuthRequest,
} from '@edge-gateway/core';
import type { AuthConfigSpec, AuthStep } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { createChain } from '../../src/index.ts';
import { guarded, stopAll } from '../harness.ts';

type Say = (request: AuthRequest) => AuthDecision | Promise<AuthDecision>;

const pass: Say = () => ({ allowed: true });
const refuse: Say = () => ({ allowed: false, status: 401, reason: 'no' });
const fail: Say = () => Promise.reject(new Error('broken'));

/** A method whose steps say what `says` has under their place. */
const scripted = (says: readonly Say[]): AuthMethodKind => {
  let made = 0;
  return {
    type: 'jwt',
    create() {
      const say = says[made++]!;
      return { authorize: (request) => say(request) };
    },
  };
};

const spec = (count: number, more: Partial<AuthConfigSpec> = {}): AuthConfigSpec => ({
  configs: Array.from({ length: count }, (_, i): AuthStep => ({ name: 'abcdef'[i]!, jwt: {} })),
  ...more,
});

const bare: AuthRequest = {
  requestId: '',
  method: 'GET',
  scheme: 'http',
  host: '',
  path: '/',
  header: () => undefined,
  headers: () => [],
  clientAddress: '',
  state: {},
  metadata: new Map(),
};

function run(says: readonly Say[], more: Partial<AuthConfigSpec> = {}, timeoutMs = 1000): Promise<AuthDecision> {
  const parts = { kinds: [scripted(says)], context: createContext(), id: 'n.c', timeoutMs };
  return createChain(spec(says.length, more), parts).authorize(bare);
}

describe('the chain', () => {
  afterEach(stopAll);

  it('grants the session of the last step that has one', async () => {
    const isSessionOpen = async (): Promise<boolean> => true;
    const session: Say = () => ({ allowed: true, isSessionOpen });
    expect(await run([session, pass])).to.include({ isSessionOpen });
    expect(await run([pass, pass])).not.to.have.property('isSessionOpen');
  });

  it('requires every step, and stops at the first denial', async () => {
    expect((await run([pass, pass])).allowed).to.equal(true);
    let asked = false;
    const seen: Say = () => {
      asked = true;
      return { allowed: true };
    };
    expect(await run([refuse, seen])).to.include({ allowed: false, status: 401 });
    expect(asked).to.equal(false);
  });

  it('evaluates the expression from left to right and runs only the steps that it needs', async () => {
    const asked: string[] = [];
    const noted =
      (name: string, say: Say): Say =>
      (request) => {
        asked.push(name);
        return say(request);
      };
    const says = [noted('a', refuse), noted('b', pass), noted('c', pass)];
    expect((await run(says, { booleanExpr: '(a || b) && !c' })).allowed).to.equal(false);
    expect(asked).to.deep.equal(['a', 'b', 'c']);
    asked.length = 0;
    expect((await run([says[1]!, says[0]!, says[2]!], { booleanExpr: 'a || b || c' })).allowed).to.equal(true);
    expect(asked).to.deep.equal(['b']);
  });

  it('names unnamed steps by their index', async () => {
    const config: AuthConfigSpec = {
      configs: [{ jwt: {} }, { name: '', jwt: {} }],
      booleanExpr: '!config_0 && config_1',
    };
    const parts = { kinds: [scripted([refuse, pass])], context: createContext(), id: 'n.c', timeoutMs: 1000 };
    expect((await createChain(config, parts).authorize(bare)).allowed).to.equal(true);
  });

  it('returns the denial of the last branch of an or', async () => {
    const other: Say = () => ({ allowed: false, status: 418, reason: 'no' });
    expect(await run([refuse, other], { booleanExpr: 'a || b' })).to.include({ status: 418 });
  });

  it('never allows a request when a step fails, even if it is negated', async () => {
    expect(await run([fail])).to.include({ allowed: false, outcome: 'serverFailure' });
    expect(await run([fail], { booleanExpr: '!a' })).to.include({ allowed: false, outcome: 'serverFailure' });
    expect((await run([fail, pass], { booleanExpr: 'a || b' })).allowed).to.equal(true);
    expect(await run([fail, refuse], { booleanExpr: 'a || b' })).not.to.have.property('failed');
  });

  it('denies a request when a negated step failed, on either side of an or', async () => {
    for (const says of [
      [fail, refuse],
      [refuse, fail],
      [fail, fail],
    ]) {
      expect((await run(says, { booleanExpr: '!(a || b)' })).allowed).to.equal(false);
      expect((await run([...says, pass], { booleanExpr: 'c && !(a || b)' })).allowed).to.equal(false);
    }
    expect((await run([refuse, refuse], { booleanExpr: '!(a || b)' })).allowed).to.equal(true);
    expect((await run([refuse, fail], { booleanExpr: '!(a && b)' })).allowed).to.equal(true);
  });

  it('denies a request when a negated step responds without a decision', async () => {
    const away: Say = () => ({ allowed: false, status: 503, reason: 'away', outcome: 'indeterminate' });
    expect(await run([away], { booleanExpr: '!a' })).to.include({ allowed: false, status: 503 });
    expect((await run([away, refuse], { booleanExpr: '!(a || b)' })).allowed).to.equal(false);
    expect((await run([away, pass], { booleanExpr: 'a || b' })).allowed).to.equal(true);
  });

  it('aborts a slow step and treats it as failed', async () => {
    let aborted = false;
    const slow: Say = async ({ signal }) => {
      signal!.addEventListener('abort', () => (aborted = true));
      await wait(90);
      return { allowed: true };
    };
    expect(await run([slow], {}, 10)).to.include({ allowed: false, outcome: 'serverFailure' });
    expect(aborted).to.equal(true);
  });

  it('logs which setting to raise, and only the id of the request', async () => {
    const lines: string[] = [];
    const log = createLoggers({ level: 'info', destination: { write: (line: string) => void lines.push(line) } });
    const slow: Say = () => new Promise(() => {});
    const kinds = [scripted([slow])];
    const parts = { kinds, context: createContext({ log }), id: 'n.c', timeoutMs: 5 };
    await createChain(spec(1), parts).authorize({ ...bare, path: '/?access_token=secret' });
    expect(lines.join('')).to.contain('raise it').and.to.contain('spec.extauth.requestTimeout');
    expect(lines.join('')).not.to.contain('secret');
  });

  it('merges the grants of passing steps and passes them to the next step', async () => {
    const first: Say = () => ({
      allowed: true,
      requestChanges: [{ op: 'set', name: 'x-a', value: '1' }],
      responseChanges: [{ op: 'append', name: 'set-cookie', value: 'a=1' }],
      state: { a: 1 },
      metadata: { sub: 'me' },
      userId: 'first',
    });
    const second: Say = ({ header, state }) => ({
      allowed: true,
      requestChanges: [{ op: 'append', name: 'x-a', value: `${header('x-a')}${JSON.stringify(state)}` }],
    });
    const granted = await run([first, second]);
    expect(granted).to.deep.include({
      allowed: true,
      userId: 'first',
      state: { a: 1 },
      metadata: { a: { sub: 'me' } },
    });
    expect((granted as AuthAllowed).requestChanges).to.have.lengthOf(2);
  });

  it('passes appended header values to the next step, without those of the client', async () => {
    const append = (value: string) => ({ op: 'append', name: 'x-a', value }) as const;
    const two: Say = () => ({ allowed: true, requestChanges: [append('1'), append('2')] });
    const one: Say = () => ({ allowed: true, requestChanges: [append('3')] });
    let seen: string | undefined;
    const look: Say = ({ header }) => {
      seen = header('x-a');
      return { allowed: true };
    };
    const request: AuthRequest = { ...bare, header: () => 'forged', headers: () => ['x-a', 'forged'] };
    const parts = { kinds: [scripted([two, one, look])], context: createContext(), id: 'n.c', timeoutMs: 1000 };
    await createChain(spec(3), parts).authorize(request);
    expect(seen).to.equal('1, 2, 3');
  });

  it('extends or replaces the state', async () => {
    const seen: unknown[] = [];
    const says = [{ state: { a: 1, b: 1 } }, { state: { b: 2 } }, { newState: { c: 3 } }, {}].map(
      (granted): Say =>
        ({ state }) => {
          seen.push(state);
          return { allowed: true, ...granted };
        },
    );
    expect(await run(says)).to.deep.include({ state: { c: 3 } });
    expect(seen).to.deep.equal([{}, { a: 1, b: 1 }, { a: 1, b: 2 }, { c: 3 }]);
  });

  it('returns 401 instead of a redirect if configured, without cookies', async () => {
    const redirect: Say = () => ({
      allowed: false,
      status: 302,
      headers: ['location', '/login', 'set-cookie', 'state=1'],
      redirect: true,
      reason: 'no session',
    });
    expect(await run([redirect])).to.include({ status: 302 });
    const refused = await run([redirect], { failOnRedirect: true });
    expect(refused).to.include({ status: 401 });
    expect(refused).not.to.have.property('headers');
  });

  it('throws for missing steps, duplicate names and unknown methods', () => {
    const parts = { kinds: [scripted([pass, pass])], context: createContext(), id: 'n.c', timeoutMs: 1 };
    expect(() => createChain({ configs: [] }, parts)).to.throw('at least one step');
    expect(() =>
      createChain(
        {
          configs: [
            { name: 'a', jwt: {} },
            { name: 'a', jwt: {} },
          ],
        },
        parts,
      ),
    ).to.throw('same name');
    expect(() => createChain({ configs: [{ ldap: { address: 'x' } }] }, parts)).to.throw('not available');
    expect(() => createChain(spec(1, { booleanExpr: 'a && z' }), parts)).to.throw('no step is named z');
  });
});

describe('the middleware', () => {
  afterEach(stopAll);
  const saying = (say: Say) => ({ methods: [{ ...scripted([say]), type: 'ldap' }] });
  const config: AuthConfigSpec = {
    configs: [{ ldap: { address: 'ldap://ldap.example.com', userDnTemplate: 'uid=%s,dc=example,dc=com' } }],
  };

  it('returns 403 with an empty body, or the configured status, when no server is reachable', async () => {
    expect(await (await guarded(config, saying(fail))).ask()).to.include({ status: 403, body: '' });
    const other = await guarded(config, { ...saying(fail), settings: { statusOnError: 503 } });
    expect(await other.ask()).to.include({ status: 503, body: '' });
    const open = await guarded(config, { ...saying(fail), settings: { failureModeAllow: true } });
    expect((await open.ask()).status).to.equal(200);
    expect(
      (await (await guarded(config, { ...saying(refuse), settings: { failureModeAllow: true } })).ask()).status,
    ).to.equal(401);
  });

  it('sends the headers of denials and of allow responses to the client', async () => {
    const redirect: Say = () => ({
      allowed: false,
      status: 302,
      headers: ['location', '/login', 'set-cookie', 'a=1', 'set-cookie', 'b=2'],
      reason: '',
    });
    const answer = await (await guarded(config, saying(redirect))).ask();
    expect(answer.headers).to.deep.include({ location: '/login', 'set-cookie': ['a=1', 'b=2'] });
    const cookies: Say = () => ({
      allowed: true,
      responseChanges: [
        { op: 'append', name: 'set-cookie', value: 'a=1' },
        { op: 'append', name: 'set-cookie', value: 'b=2' },
      ],
    });
    expect((await (await guarded(config, saying(cookies))).ask()).headers['set-cookie']).to.deep.equal(['a=1', 'b=2']);
  });

  it('denies a request when a granted header contains a line break', async () => {
    const inject: Say = () => ({
      allowed: true,
      requestChanges: [{ op: 'set', name: 'x-a', value: 'a\r\nx-admin: 1' }],
    });
    expect((await (await guarded(config, saying(inject))).ask()).status).to.equal(403);
    const user: Say = () => ({ allowed: true, userId: 'a\nb' });
    expect((await (await guarded(config, saying(user))).ask()).status).to.equal(403);
  });

  it('passes the body to steps if configured, and returns 413 for a larger one', async () => {
    let seen: string | undefined;
    const look: Say = ({ body }) => {
      seen = body?.toString('utf8');
      return { allowed: true };
    };
    const whole = await guarded(config, { ...saying(look), settings: { requestBody: { maxRequestBytes: 10 } } });
    expect((await whole.ask('/', { method: 'POST', body: 'hello' })).body).to.equal('5');
    expect(seen).to.equal('hello');
    expect(await whole.ask('/', { method: 'POST', body: 'hello hello' })).to.include({
      status: 413,
      body: 'Payload Too Large',
    });
    const settings = { requestBody: { maxRequestBytes: 10, allowPartialMessage: true } };
    const partial = await guarded(config, { ...saying(look), settings });
    expect((await partial.ask('/', { method: 'POST', body: 'x'.repeat(100_000) })).body).to.equal('100000');
    expect(seen).to.equal('x'.repeat(10));
  });
});
