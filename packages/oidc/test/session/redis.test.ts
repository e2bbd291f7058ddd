import { expect } from 'chai';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, createLoggers } from '@edge-gateway/core';
import type { RedisOptions } from '@edge-gateway/core/schema';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { codeOf } from '../../src/error-codes.ts';
import { createSessionRedis, shareRedis, type SessionRedis } from '../../src/session/redis.ts';
import { until } from '../../../../test/parts/until.ts';

const PASSWORD = 'p@ss:w/ord %';

describe('a connection to Redis', () => {
  it('is rejected with ERR_OIDC_CONFIG for an invalid address', () => {
    const create = (): unknown => createSessionRedis({ host: ':hunter2@redis:6379' }, createLoggers().get('redis'));
    expect(create)
      .to.throw(/^(?!.*hunter2)redis: /)
      .with.property('code', 'ERR_OIDC_CONFIG');
  });

  it('is shared, and closed once each of its users has released it', () => {
    const context = createContext();
    const [one, other] = [shareRedis({ host: '127.0.0.1:1' }, context), shareRedis({ host: '127.0.0.1:1' }, context)];
    expect(one.redis).to.equal(other.redis);
    let closings = 0;
    const disconnect = one.redis.disconnect.bind(one.redis);
    one.redis.disconnect = () => {
      closings++;
      disconnect();
    };
    one.release();
    one.release();
    expect(closings).to.equal(0);
    other.release();
    expect(closings).to.equal(1);
  });

  let server: RedisServer;
  let good: Certificates;
  let other: Certificates;
  let empty: string;
  let lines: string[];
  const open: SessionRedis[] = [];
  const redis = (options: RedisOptions): SessionRedis => {
    const destination = { write: (line: string) => void lines.push(line) };
    const made = createSessionRedis(options, createLoggers({ destination }).get('redis'));
    open.push(made);
    return made;
  };
  const ping = (each: SessionRedis): Promise<string> =>
    each.run((client) => client.ping()).catch((error: Error) => `${codeOf(error)}: ${error.message}`);
  const login = `:${encodeURIComponent(PASSWORD)}@`;
  before(async function () {
    await skipWithout(this, 'redis-server');
    await skipWithout(this, 'openssl');
    [good, other] = [makeCertificates(), makeCertificates()];
    empty = mkdtempSync(join(tmpdir(), 'no-certificates-'));
    server = await startRedis({ password: PASSWORD, tls: { ...good, clients: 'yes' } });
  });
  after(async () => {
    await server?.close();
    good?.remove();
    other?.remove();
    rmSync(empty, { recursive: true, force: true });
  });
  beforeEach(() => {
    lines = [];
  });
  afterEach(() => {
    for (const each of open.splice(0)) each.disconnect();
    expect(lines.join('')).to.not.contain('p@ss').and.not.contain('p%40ss');
  });

  it('is made over TCP with user, password and database', async () => {
    await server.command(['acl', 'setuser', 'me', 'on', `>${PASSWORD}`, '~*', '&*', '+@all']);
    for (const user of ['', 'me']) {
      const each = redis({ host: `redis://${user}${login}${server.host}`, db: 3 });
      await each.run((client) => client.set(`by ${user}`, 'x'));
    }
    expect(await server.command(['info', 'keyspace'])).to.match(/db3:keys=2/);
  });

  it('is made over a socket file', async () => {
    const each = redis({ host: server.unixHost.replace('unix://', `unix://${login}`), db: 4 });
    await each.run((client) => client.set('by socket', 'x'));
    expect(await server.command(['info', 'keyspace'])).to.match(/db4:keys=1/);
  });

  it('is made over TLS with the certificates of tlsCertMountPath', async () => {
    const address = { host: `redis://${login}${server.tlsHost}`, tlsCertMountPath: good.directory };
    expect(await ping(redis({ ...address, socketType: 'TLS' }))).to.equal('PONG');
    expect(await ping(redis({ ...address, host: address.host.replace('redis:', 'rediss:') }))).to.equal('PONG');
    expect(lines).to.deep.equal([]);
  });

  it('is rejected if its certificate is not trusted, with a log line', async () => {
    for (const tlsCertMountPath of [other.directory, undefined]) {
      lines = [];
      const each = redis({ host: `redis://${login}${server.tlsHost}`, socketType: 'TLS', tlsCertMountPath });
      const said = 'untrusted Redis certificate: check tlsCertMountPath';
      expect(await ping(each)).to.equal(`ERR_OIDC_STORE_UNAVAILABLE: session store: ${said}`);
      expect(lines[0]).to.contain(said).and.contain('"level":40');
    }
  });

  it('is rejected without the certificates, and works once they exist', async () => {
    const each = redis({ host: `redis://${login}${server.tlsHost}`, socketType: 'TLS', tlsCertMountPath: empty });
    expect(await ping(each)).to.contain('neither ca.crt, nor tls.crt and tls.key');
    expect(lines[0]).to.contain('neither ca.crt');
    writeFileSync(join(empty, 'tls.crt'), 'x');
    expect(await ping(each)).to.contain('one of tls.crt and tls.key is missing');
    rmSync(empty, { recursive: true });
    cpSync(good.directory, empty, { recursive: true });
    await until(async () => (await ping(each)) === 'PONG');
  });

  it('is rejected in plain text by a port for TLS, and over TLS by one that is plain', async () => {
    const plain = redis({ host: `redis://${login}${server.tlsHost}` });
    expect(await ping(plain)).to.match(/^ERR_OIDC_STORE_UNAVAILABLE/);
    const tls = { socketType: 'TLS', tlsCertMountPath: good.directory } as const;
    expect(await ping(redis({ host: `redis://${login}${server.host}`, ...tls }))).to.match(
      /^ERR_OIDC_STORE_UNAVAILABLE/,
    );
    expect(lines.length).to.be.greaterThan(0);
  });

  it('reports that the password was rejected, and works again once it is correct', async () => {
    const user = (...rules: string[]): Promise<string> =>
      server.command(['acl', 'setuser', 'rotated', 'on', '~*', '&*', '+@all', ...rules]);
    await user('>old-hunter2');
    const each = redis({ host: `redis://rotated:old-hunter2@${server.host}` });
    expect(await ping(each)).to.equal('PONG');
    await user('resetpass', '>new-hunter2');
    await server.command(['client', 'kill', 'user', 'rotated']);
    await until(async () => (await ping(each)).includes('Redis rejected the user name or password'));
    expect(lines.join('')).to.contain('Redis rejected the user name or password');
    expect(await ping(redis({ host: `redis://rotated:new-hunter2@${server.host}` }))).to.equal('PONG');
    expect(await ping(redis({ host: server.host }))).to.match(/Redis rejected the user name or password|NOAUTH/);
    await user('>old-hunter2');
    await until(async () => (await ping(each)) === 'PONG');
    expect(lines.join('')).to.not.contain('hunter2');
  });

  it('logs once that Redis does not respond, and nothing when it is closed', async () => {
    const each = redis({ host: `redis://${login}${server.host}` });
    expect(await ping(each)).to.equal('PONG');
    server.freeze();
    try {
      for (let i = 0; i < 3; i++) expect(await ping(each)).to.match(/^ERR_OIDC_STORE_UNAVAILABLE/);
      expect(lines.length).to.equal(1);
      expect(lines[0]).to.contain('Redis is unavailable').and.contain('no response in time');
      const waiting = redis({ host: `redis://${login}${server.host}` });
      const answer = ping(waiting);
      await new Promise(setImmediate);
      waiting.disconnect();
      expect(await answer).to.match(/^ERR_OIDC_STORE_UNAVAILABLE/);
      expect(lines.length).to.equal(1);
    } finally {
      server.thaw();
    }
  });

  it('is one by default, and poolSize of them are used in turn', async () => {
    const connections = async (): Promise<number> => {
      const list = await server.command(['client', 'list']);
      return list.split('\n').filter((line) => line.includes('user=pool ')).length;
    };
    await server.command(['acl', 'setuser', 'pool', 'on', '>pool', '~*', '&*', '+@all']);
    for (const [poolSize, expected] of [
      [undefined, 1],
      [0, 1],
      [3, 3],
    ] as const) {
      const each = redis({ host: `redis://pool:pool@${server.host}`, poolSize });
      await Promise.all(Array.from({ length: 12 }, () => ping(each)));
      expect(await connections(), String(poolSize)).to.equal(expected);
      const ids = await Promise.all(Array.from({ length: 12 }, () => each.run((client) => client.clientId())));
      expect(new Set(ids).size).to.equal(expected);
      each.disconnect();
      await until(async () => (await connections()) === 0);
    }
  });
});
