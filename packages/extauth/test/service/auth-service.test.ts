import { expect } from 'chai';
import type { AuthRequest } from '@edge-gateway/core';
import type { AuthConfigSpec } from '@edge-gateway/core/schema';
import { METHODS } from '../../src/index.ts';
import { authRequestOfCheck } from '../../src/service/check-input.ts';
import type { Grant, Verdict } from '../../src/service/verdict.ts';
import { KEYS, serve, told, TOLD } from './service-harness.ts';

function request(headers: Readonly<Record<string, string>> = {}, signal = new AbortController().signal): AuthRequest {
  const http = { id: 'r1', method: 'GET', path: '/private?a=1', host: 'app.example.com', scheme: 'https', headers };
  return authRequestOfCheck({ attributes: { request: { http } } }, signal);
}

const withKey = { 'api-key': 'key-of-alice' };

function granted(verdict: Verdict): Grant {
  if (!verdict.allowed) throw new Error(`rejected: ${verdict.status} ${verdict.reason}`);
  return verdict;
}

const refused = (verdict: Verdict) => (verdict.allowed ? undefined : verdict.status);

describe('the auth service', () => {
  it('decides with the AuthConfig that a check names', async () => {
    const { service } = serve(
      { 'n/keys': KEYS, 'n/open': TOLD },
      { methods: [told(() => ({ allowed: true })), ...METHODS] },
    );
    expect(granted(await service.check('n.keys', request(withKey))).set.get('x-user-id')).to.equal('alice');
    const denied = await service.check('n.keys', request());
    expect(denied).to.include({ allowed: false, status: 401, details: 'ext_authz_denied' });
    expect(granted(await service.check('n.open', request())).set.size).to.equal(0);
  });

  it('rejects unknown AuthConfigs with 403, and logs their name', async () => {
    const { service, lines } = serve({ 'n/keys': KEYS });
    for (const id of ['', 'n.other', 'keys', 'n.keys ', '__proto__', 'constructor']) {
      expect(refused(await service.check(id, request(withKey)))).to.equal(403);
      expect(lines.at(-1)).to.include({ config: id, requestId: 'r1' });
    }
  });

  it('rejects with 500 if the AuthConfig is broken or cannot be compiled, also with failureModeAllow', async () => {
    const unusable: AuthConfigSpec = { configs: [{ ldap: {} }] };
    const extauth = { failureModeAllow: true };
    const { service, lines } = serve({ 'n/broken': 'the secret is missing', 'n/unusable': unusable }, { extauth });
    expect(refused(await service.check('n.broken', request()))).to.equal(500);
    expect(lines.at(-1)).to.include({ config: 'n.broken', reason: 'the secret is missing' });
    expect(refused(await service.check('n.unusable', request()))).to.equal(500);
  });

  it('rejects with two AuthConfigs of one name', async () => {
    const { service } = serve({ 'a.b/c': TOLD, 'a/b.c': { ...TOLD } }, { methods: [told(() => ({ allowed: true }))] });
    expect(refused(await service.check('a.b.c', request()))).to.equal(500);
  });

  it('rejects everything before the first update and after it is closed', async () => {
    const { service } = serve({});
    expect(refused(await service.check('n.keys', request(withKey)))).to.equal(403);
    const other = serve({ 'n/keys': KEYS });
    other.service.close();
    expect(refused(await other.service.check('n.keys', request(withKey)))).to.equal(403);
  });

  it('follows changes of AuthConfigs, Settings and Secrets', async () => {
    const values = { name: 'key-of-alice' };
    const data = () => ({ type: 'Opaque', data: { 'api-key': Buffer.from(values.name).toString('base64') } });
    let secret = data();
    const served = serve({ 'n/keys': KEYS }, { secrets: { get: () => secret } });
    const userOf = async (header: string): Promise<string | undefined> =>
      granted(await served.service.check('n.keys', request({ 'api-key': values.name }))).set.get(header);
    expect(await userOf('x-user-id')).to.equal('alice');
    served.update({ 'n/keys': KEYS }, { userIdHeader: 'X-User' });
    expect(await userOf('x-user')).to.equal('alice');
    values.name = 'rotated';
    secret = data();
    served.update({ 'n/keys': KEYS }, { userIdHeader: 'X-User' });
    expect(await userOf('x-user')).to.equal('alice');
    expect(refused(await served.service.check('n.keys', request(withKey)))).to.equal(401);
    served.update({});
    expect(refused(await served.service.check('n.keys', request({ 'api-key': 'rotated' })))).to.equal(403);
  });

  it('finishes checks in progress with the AuthConfig that began them, and closes it only then', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const events: string[] = [];
    const slow = {
      type: 'jwt',
      create: () => ({
        local: true,
        async authorize() {
          await promise;
          events.push('decided');
          return { allowed: true } as const;
        },
        close: () => void events.push('closed'),
      }),
    };
    const served = serve({ 'n/slow': TOLD }, { methods: [slow] });
    const verdict = served.service.check('n.slow', request());
    served.update({});
    expect(events).to.deep.equal([]);
    expect(served.service.active).to.equal(1);
    resolve();
    expect((await verdict).allowed).to.equal(true);
    expect(events).to.deep.equal(['decided', 'closed']);
    expect(served.service.active).to.equal(0);
  });

  it('keeps the compiled AuthConfig while nothing that it uses changes', () => {
    let created = 0;
    const counting = { type: 'jwt', create: () => (created++, { authorize: () => ({ allowed: true }) as const }) };
    const served = serve({ 'n/a': TOLD }, { methods: [counting] });
    served.update({ 'n/a': TOLD, 'n/keys': KEYS });
    expect(created).to.equal(1);
  });

  it('rejects more than maxChecks at a time with 503', async () => {
    const { promise, resolve } = Promise.withResolvers<{ allowed: true }>();
    const { service } = serve({ 'n/slow': TOLD }, { methods: [told(() => promise)], maxChecks: 2 });
    const waiting = [service.check('n.slow', request()), service.check('n.slow', request())];
    expect(await service.check('n.slow', request())).to.include({ status: 503 });
    resolve({ allowed: true });
    for (const verdict of await Promise.all(waiting)) expect(verdict.allowed).to.equal(true);
    expect((await service.check('n.slow', request())).allowed).to.equal(true);
  });

  it('never allows a request of a client that left, even with failureModeAllow', async () => {
    const gone = new AbortController();
    const failing = told(async () => {
      gone.abort();
      throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
    });
    const extauth = { failureModeAllow: true };
    const { service } = serve({ 'n/a': TOLD }, { methods: [failing], extauth });
    expect(refused(await service.check('n.a', request({}, gone.signal)))).to.equal(403);
  });

  it('treats failures as the Settings say', async () => {
    const failing = told(() => {
      throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
    });
    const closed = serve({ 'n/a': TOLD }, { methods: [failing], extauth: { statusOnError: 503 } });
    expect(refused(await closed.service.check('n.a', request()))).to.equal(503);
    const open = serve({ 'n/a': TOLD }, { methods: [failing], extauth: { failureModeAllow: true } });
    const verdict = granted(await open.service.check('n.a', request({ 'x-user-id': 'forged' })));
    expect(verdict.remove).to.include('x-user-id');
  });

  it('hides a user that the client names from steps and upstreams, in every spelling', async () => {
    const seen: (string | undefined)[] = [];
    const spy = told((asked) => {
      seen.push(asked.header('X-User-Id'), asked.header('x_user_id'), asked.headers().join(' '));
      return { allowed: true };
    });
    const { service } = serve({ 'n/a': TOLD }, { methods: [spy] });
    const forged = { 'x-user-id': 'root', x_user_id: 'root', 'x-kept': '1' };
    const { set, remove } = granted(await service.check('n.a', request(forged)));
    expect(seen).to.deep.equal([undefined, undefined, 'x-kept 1']);
    expect([...set.keys()]).to.deep.equal([]);
    expect(remove).to.have.members(['x-user-id', 'x_user_id']);
  });

  it('counts checks by AuthConfig and outcome, unknown names as one', async () => {
    const served = serve({ 'n/keys': KEYS });
    await served.service.check('n.keys', request(withKey));
    await served.service.check('n.keys', request());
    for (let i = 0; i < 50; i++) await served.service.check(`n.random-${i}`, request());
    const counted = () =>
      [...(served.context.metrics.families().get('extauth_vendor_io_checks') ?? [])]
        .filter(({ stat }) => 'value' in stat && stat.value > 0)
        .map(({ name, stat }) => [name.labels, 'value' in stat && stat.value]);
    expect(counted()).to.deep.equal([
      [{ auth_config: 'n.keys', outcome: 'allowed' }, 1],
      [{ auth_config: 'n.keys', outcome: 'denied' }, 1],
      [{ auth_config: 'unknown', outcome: 'error' }, 50],
    ]);
    served.update({});
    expect(counted()).to.have.length(1);
  });
});
