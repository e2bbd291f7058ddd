import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createContext, createLoggers } from '@edge-gateway/core';
import type { ExtAuthServer, Ldap } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import { startSlapd, type Slapd } from '../../../../test/parts/slapd.ts';
import { basic, guarded, only, secretsOf, stopAll, type Guarded } from '../harness.ts';

const person = (uid: string, rdn = uid): string => `dn: uid=${rdn},ou=people,dc=example,dc=com
objectClass: inetOrgPerson
uid: ${uid}
cn: ${uid}
sn: ${uid}
userPassword: ${uid}pwd

`;
const group = (cn: string, ...members: string[]): string => `dn: cn=${cn},ou=groups,dc=example,dc=com
objectClass: groupOfNames
cn: ${cn}
${members.map((uid) => `member: uid=${uid},ou=people,dc=example,dc=com`).join('\n')}

`;
const ENTRIES = [
  'dn: ou=people,dc=example,dc=com\nobjectClass: organizationalUnit\nou: people\n\n',
  'dn: ou=groups,dc=example,dc=com\nobjectClass: organizationalUnit\nou: groups\n\n',
  person('marco'),
  person('Rick'),
  person('nobody'),
  person('a,b', String.raw`a\2Cb`),
  'dn: cn=reader,dc=example,dc=com\nobjectClass: person\ncn: reader\nsn: reader\nuserPassword: readerpwd\n\n',
  group('developers', 'marco'),
  group('managers', 'Rick', String.raw`a\2Cb`),
].join('');
const MANAGERS = 'cn=managers,ou=groups,dc=example,dc=com';
const USER_DN = 'uid=%s,ou=people,dc=example,dc=com';
const as = (name: string, password: string) => ({ headers: { authorization: basic(name, password) } });

describe('ldap', () => {
  let slapd: Slapd;
  let certificates: Certificates;
  const lines: string[] = [];
  const log = createLoggers({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
  const secrets = secretsOf({
    reader: { username: 'cn=reader,dc=example,dc=com', password: 'readerpwd' },
    wrong: { username: 'cn=reader,dc=example,dc=com', password: 'wrong' },
  });

  before(async function () {
    this.timeout(300_000);
    certificates = makeCertificates();
    // Entries are visible to themselves and to the service account, as in a directory with usual access rules.
    const config = 'access to * by dn.exact="cn=reader,dc=example,dc=com" read by self read by anonymous auth';
    slapd = await startSlapd({ entries: ENTRIES, config, tls: certificates });
  });
  after(async () => {
    await slapd?.close();
    certificates?.remove();
  });
  afterEach(async () => {
    await stopAll();
    slapd.thaw();
    await slapd.start();
  });

  async function guard(more: Partial<Ldap> = {}, settings: ExtAuthServer = {}): Promise<Guarded> {
    const ldap = { address: slapd.address, userDnTemplate: USER_DN, allowedGroups: [MANAGERS], ...more };
    return guarded(only({ ldap }), { settings, context: createContext({ secrets, log }) });
  }

  it('does not let a user name choose how to authenticate', async () => {
    let received = 0;
    // Responds to every bind with success.
    const allowing = createTcpServer((socket) => {
      socket.on('data', (data) => {
        received++;
        socket.write(Buffer.from([0x30, 12, 2, 1, data[4]!, 0x61, 7, 10, 1, 0, 4, 0, 4, 0]));
      });
    }).listen(0, '127.0.0.1');
    await once(allowing, 'listening');
    const address = `127.0.0.1:${(allowing.address() as AddressInfo).port}`;
    const { ask } = await guard({ address, userDnTemplate: '%s', disableGroupChecking: true });
    for (const name of ['EXTERNAL', 'PLAIN', 'DIGEST-MD5', 'SCRAM-SHA-1'])
      expect((await ask('/', as(name, '\0ann\0annpwd'))).status, name).to.equal(401);
    expect(received).to.equal(0);
    expect((await ask('/', as('ann', 'annpwd'))).status).to.equal(200);
    await stopAll();
    allowing.close();
  });

  it('responds as in the guide: 401 without credentials and to an unknown user, 403 to a developer, 200 to a manager', async () => {
    const { ask } = await guard();
    const none = await ask('/');
    expect(none).to.include({ status: 401, body: '' });
    expect(none.headers['www-authenticate']).to.equal('Basic realm=""');
    expect(await ask('/', as('john', 'doe'))).to.include({ status: 401, body: '' });
    expect(await ask('/', as('marco', 'marcopwd'))).to.include({ status: 403, body: '' });
    expect((await ask('/', as('Rick', 'Rickpwd'))).status).to.equal(200);
  });

  it('rejects a wrong password, and never logs one', async () => {
    const { ask } = await guard();
    expect((await ask('/', as('Rick', 'a-wrong-password'))).status).to.equal(401);
    expect((await ask('/', as('Rick', 'marcopwd'))).status).to.equal(401);
    expect(lines.join('')).to.not.match(/a-wrong-password|Rickpwd|readerpwd/);
  });

  it('rejects an empty password and an empty name, which a directory takes for an anonymous bind', async () => {
    const { ask } = await guard({ disableGroupChecking: true });
    expect((await ask('/', as('Rick', ''))).status).to.equal(401);
    expect((await ask('/', as('', 'x'))).status).to.equal(401);
    expect((await ask('/', as('', ''))).status).to.equal(401);
  });

  it('identifies the user by the name in the directory, whatever the spelling of the request', async () => {
    const { seen } = await guard();
    for (const name of ['Rick', 'rick', 'RICK']) {
      expect((await seen('/', as(name, 'Rickpwd')))['x-user-id'], name).to.equal('Rick');
    }
    expect((await seen('/', as('a,b', 'a,bpwd')))['x-user-id']).to.equal('a,b');
  });

  it('does not let a user name change the distinguished name', async () => {
    const { ask } = await guard({ userDnTemplate: 'uid=%s,ou=people,dc=example,dc=com', disableGroupChecking: true });
    for (const name of [
      'Rick,ou=people,dc=example,dc=com',
      'Rick,ou=people,dc=example,dc=com#',
      'Rick+cn=Rick',
      String.raw`Rick\2cou=people`,
      'Rick;ou=people',
      '"Rick"',
      'uid=Rick',
      '<Rick>',
      'Rick\0',
      'Rick\n',
      '*',
      'R*',
      'Rick)(uid=*',
      '#5269636b',
      '..',
      '%s',
      '\\',
      'cn=reader,dc=example,dc=com',
    ]) {
      expect((await ask('/', as(name, 'Rickpwd'))).status, JSON.stringify(name)).to.equal(401);
    }
    expect((await ask('/', as('Rick', 'Rickpwd'))).status).to.equal(200);
  });

  it('rejects headers that are not basic credentials', async () => {
    const { ask } = await guard();
    for (const authorization of ['Basic', 'Basic !', 'Bearer x', `Basic ${Buffer.from('Rick').toString('base64')}`]) {
      expect((await ask('/', { headers: { authorization } })).status, authorization).to.equal(401);
    }
    expect((await ask('/', as('x'.repeat(1100), 'x'))).status).to.equal(401);
  });

  it('compares groups as distinguished names, and finds the attribute in any case', async () => {
    for (const allowedGroups of [
      ['CN=Managers, OU=groups,DC=example,DC=com'],
      ['cn=others,dc=example,dc=com', MANAGERS],
    ]) {
      const { ask } = await guard({ allowedGroups, membershipAttributeName: 'MEMBEROF' });
      expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(200);
      await stopAll();
    }
    for (const allowedGroups of [
      ['cn=managers'],
      ['cn=managers,ou=groups,dc=example'],
      ['ou=groups,dc=example,dc=com'],
    ]) {
      const { ask } = await guard({ allowedGroups });
      expect((await ask('/', as('rick', 'Rickpwd'))).status, allowedGroups[0]).to.equal(403);
      await stopAll();
    }
  });

  it('reads groups from another attribute, and rejects users without groups', async () => {
    const { ask } = await guard({ membershipAttributeName: 'cn', allowedGroups: ['cn=Rick'] });
    expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(403);
    expect((await (await guard()).ask('/', as('nobody', 'nobodypwd'))).status).to.equal(403);
  });

  it('requires the entry to match the search filter', async () => {
    const matching = await guard({ searchFilter: '(&(objectClass=inetOrgPerson)(uid=rick))' });
    expect((await matching.ask('/', as('rick', 'Rickpwd'))).status).to.equal(200);
    const other = await guard({ searchFilter: '(objectClass=device)' });
    expect((await other.ask('/', as('rick', 'Rickpwd'))).status).to.equal(403);
  });

  it('only authenticates with disableGroupChecking', async () => {
    const { ask, seen } = await guard({ disableGroupChecking: true, allowedGroups: [] });
    expect((await seen('/', as('marco', 'marcopwd')))['x-user-id']).to.equal('marco');
    expect((await ask('/', as('marco', 'wrong'))).status).to.equal(401);
  });

  it('reads groups with the service account, and responds 500 if its bind fails', async () => {
    const lookup = (name: string) => ({
      groupLookupSettings: { checkGroupsWithServiceAccount: true, credentialsSecretRef: { name, namespace: 'n' } },
    });
    const { ask } = await guard(lookup('reader'));
    expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(200);
    expect((await ask('/', as('rick', 'wrong'))).status).to.equal(401);
    expect((await ask('/', as('marco', 'marcopwd'))).status).to.equal(403);
    const wrong = await guard(lookup('wrong'));
    expect(await wrong.ask('/', as('rick', 'Rickpwd'))).to.include({ status: 500, body: '' });
    expect((await wrong.ask('/', as('rick', 'wrong'))).status).to.equal(401);
  });

  it('does not keep the rights of one request for the next one on the same connection', async () => {
    const { ask } = await guard({ pool: { maxSize: 1 } });
    for (const [name, password, status] of [
      ['rick', 'Rickpwd', 200],
      ['marco', 'marcopwd', 403],
      ['rick', 'wrong', 401],
      ['rick', 'Rickpwd', 200],
      ['nobody', 'Rickpwd', 401],
    ] as const) {
      expect((await ask('/', as(name, password))).status, name).to.equal(status);
    }
  });

  it('keeps at most maxSize connections, and opens more while they are needed', async () => {
    const others = await slapd.connections();
    const own = async (): Promise<number> => (await slapd.connections()) - others;
    const { ask } = await guard({ pool: { maxSize: 2 } });
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask('/', as('rick', 'Rickpwd'))));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 12 }, () => 200));
    for (const giveUp = performance.now() + 10_000; (await own()) > 2;) {
      if (performance.now() > giveUp) throw new Error(`${await own()} connections`);
    }
    expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(200);
    expect(await own()).to.equal(2);
  });

  it('denies with 403 while the server is down, and allows again afterwards', async () => {
    const { ask } = await guard();
    expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(200);
    await slapd.stop();
    expect(await ask('/', as('rick', 'Rickpwd'))).to.include({ status: 403, body: '' });
    await slapd.start();
    expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(200);
  });

  it('denies with statusOnError, and allows with failureModeAllow, while the server is down', async () => {
    await slapd.stop();
    const strict = await guard({}, { statusOnError: 503 });
    expect((await strict.ask('/', as('rick', 'Rickpwd'))).status).to.equal(503);
    const open = await guard({}, { failureModeAllow: true });
    expect((await open.ask('/', as('rick', 'Rickpwd'))).status).to.equal(200);
    expect((await open.ask('/')).status).to.equal(401);
  });

  it('denies with 403 within requestTimeout while the server is frozen', async () => {
    const { ask } = await guard({}, { requestTimeout: '0.3s' });
    slapd.freeze();
    const began = performance.now();
    expect(await ask('/', as('rick', 'Rickpwd'))).to.include({ status: 403, body: '' });
    expect(performance.now() - began).to.be.lessThan(5_000);
    slapd.thaw();
  });

  it('verifies the certificate of ldaps', async () => {
    const { ask } = await guard({ address: slapd.tlsAddress! });
    expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(403);
    expect(lines.join('')).to.match(/self-signed certificate|unable to verify/);
    const before = getCACertificates();
    setDefaultCACertificates([...before, readFileSync(certificates.ca, 'utf8')]);
    const trusting = await guard({ address: slapd.tlsAddress! });
    setDefaultCACertificates(before);
    expect((await trusting.ask('/', as('rick', 'Rickpwd'))).status).to.equal(200);
  });

  it('combines with other steps by a boolean expression, and never passes a ! because of a failure', async () => {
    const ldap = { address: slapd.address, userDnTemplate: USER_DN, allowedGroups: [MANAGERS] };
    const { ask } = await guarded({ booleanExpr: '!people', configs: [{ name: 'people', ldap }] });
    expect((await ask('/', as('rick', 'wrong'))).status).to.equal(200);
    await slapd.stop();
    expect((await ask('/', as('rick', 'wrong'))).status).to.equal(403);
  });
});

describe('ldap with a broken server', () => {
  const open = new Set<Socket>();
  let server: Server;
  const address = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const serve = async (reply: (socket: Socket, asked: Buffer) => void, more: ExtAuthServer = {}) => {
    server = createTcpServer((socket) => {
      open.add(socket.on('error', () => undefined));
      socket.once('data', (asked: Buffer) => reply(socket, asked));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const ldap = { address: address(), userDnTemplate: USER_DN, disableGroupChecking: true };
    return guarded(only({ ldap }), { settings: { requestTimeout: '1s', ...more } });
  };
  afterEach(async () => {
    await stopAll();
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** A response to the first bind, with this result. */
  const bindResponse = (asked: Buffer, code: number) =>
    Buffer.from([0x30, 12, 2, 1, asked[4]!, 0x61, 7, 10, 1, code, 4, 0, 4, 0]);

  for (const [what, reply] of [
    ['closes the connection', (socket: Socket) => socket.destroy()],
    ['sends text', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    [
      'sends a message that is too long',
      (socket: Socket) => socket.end(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff])),
    ],
    ['is busy', (socket: Socket, asked: Buffer) => socket.write(bindResponse(asked, 51))],
    ['is unavailable', (socket: Socket, asked: Buffer) => socket.write(bindResponse(asked, 52))],
    ['requires a stronger login', (socket: Socket, asked: Buffer) => socket.write(bindResponse(asked, 8))],
    ['refers to another server', (socket: Socket, asked: Buffer) => socket.write(bindResponse(asked, 10))],
  ] as const) {
    it(`denies with 403 if it ${what}`, async () => {
      const { ask } = await serve(reply);
      expect(await ask('/', as('rick', 'Rickpwd'))).to.include({ status: 403, body: '' });
    });
  }

  for (const [code, status] of [
    [51, 200],
    [52, 200],
    [1, 403],
    [2, 403],
    [80, 403],
  ] as const) {
    it(`responds ${status} to result ${code} with failureModeAllow`, async () => {
      const { ask } = await serve((socket, asked) => socket.write(bindResponse(asked, code)), {
        failureModeAllow: true,
      });
      expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(status);
    });
  }

  it('allows if the bind succeeds, and denies with 401 if the name or password is wrong', async () => {
    const right = await serve((socket, asked) => socket.write(bindResponse(asked, 0)));
    expect((await right.ask('/', as('rick', 'Rickpwd'))).status).to.equal(200);
    await new Promise((resolve) => {
      server.close(resolve);
      for (const socket of open) socket.destroy();
    });
    const wrong = await serve((socket, asked) => socket.write(bindResponse(asked, 49)));
    expect((await wrong.ask('/', as('rick', 'Rickpwd'))).status).to.equal(401);
  });

  for (const code of [19, 32, 34, 48, 49, 50, 53]) {
    it(`denies with 401 after result ${code}: the name or the password is wrong`, async () => {
      const { ask } = await serve((socket, asked) => socket.write(bindResponse(asked, code)));
      expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(401);
    });
  }

  it('closes the connection of a check that took too long', async () => {
    const closed = Promise.withResolvers<void>();
    const { ask } = await serve((socket) => socket.once('close', closed.resolve), { requestTimeout: '50ms' });
    expect((await ask('/', as('rick', 'Rickpwd'))).status).to.equal(403);
    await closed.promise;
  });

  it('rejects an empty password, which this server takes for an anonymous bind that succeeds', async () => {
    const { ask } = await serve((socket, asked) => socket.write(bindResponse(asked, 0)));
    expect((await ask('/', as('rick', ''))).status).to.equal(401);
  });

  it('allows any number of requests one after the other', async () => {
    const { ask } = await serve((socket, first) => {
      const reply = (asked: Buffer): boolean => socket.write(bindResponse(asked, 0));
      reply(first);
      socket.on('data', reply);
    });
    const seen = new Set<number>();
    for (let i = 0; i < 110; i++) seen.add((await ask('/', as('rick', 'Rickpwd'))).status);
    expect([...seen]).to.deep.equal([200]);
  });
});
