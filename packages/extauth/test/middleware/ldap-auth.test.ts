import { GatewayError, identityOf } from '@edge-gateway/core';
import { expect } from 'chai';
import { startSlapd, type Slapd } from '../../../../test/parts/slapd.ts';
import { ldapAuth, type LdapAuthOptions } from '../../src/index.ts';
import { basic, call, start, stopAll } from '../harness.ts';

const ENTRIES = `dn: uid=alice,dc=example,dc=com
objectClass: inetOrgPerson
uid: alice
cn: alice
sn: alice
userPassword: alicepwd

dn: cn=staff,dc=example,dc=com
objectClass: groupOfNames
cn: staff
member: uid=alice,dc=example,dc=com
`;
const GROUP = 'cn=staff,dc=example,dc=com';

describe('ldapAuth as middleware', () => {
  let slapd: Slapd;
  before(async function () {
    this.timeout(300_000);
    slapd = await startSlapd({ entries: ENTRIES });
  });
  after(() => slapd?.close());
  afterEach(stopAll);

  const optionsOf = (more: Partial<LdapAuthOptions> = {}): LdapAuthOptions => ({
    address: slapd.address,
    userDnTemplate: 'uid=%s,dc=example,dc=com',
    allowedGroups: [GROUP],
    requestTimeout: '20s',
    ...more,
  });

  async function statusOf(options: LdapAuthOptions, name: string, password: string) {
    const guard = ldapAuth(options);
    const url = await start((req, res) => {
      guard(req, res, (error) => {
        res.statusCode = error ? 500 : 200;
        res.end(JSON.stringify({ code: (error as GatewayError | undefined)?.code, identity: identityOf(req) }));
      });
    });
    const { status, body } = await call(url, { headers: { authorization: basic(name, password) } });
    return { status, identity: status === 200 ? (JSON.parse(body) as { identity: object }).identity : undefined };
  }

  it('allows users of a group, and identifies them', async () => {
    const { status, identity } = await statusOf(optionsOf(), 'Alice', 'alicepwd');
    expect(status).to.equal(200);
    expect(identity).to.include({ provider: 'ldapAuth', subject: 'alice' });
    expect((await statusOf(optionsOf(), 'alice', 'wrong')).status).to.equal(401);
    expect((await statusOf(optionsOf({ allowedGroups: ['cn=other'] }), 'alice', 'alicepwd')).status).to.equal(403);
    expect((await statusOf(optionsOf({ allowedGroups: 'any' }), 'alice', 'alicepwd')).status).to.equal(200);
  });

  it('reads groups with a service account', async () => {
    const dn = 'cn=admin,dc=example,dc=com';
    const right = optionsOf({ serviceAccount: { dn, password: 'admin' } });
    expect((await statusOf(right, 'alice', 'alicepwd')).status).to.equal(200);
    const wrong = optionsOf({ serviceAccount: { dn, password: 'wrong' } });
    expect((await statusOf(wrong, 'alice', 'alicepwd')).status).to.equal(500);
  });

  it('rejects options that cannot be used', () => {
    for (const [more, message] of [
      [{ allowedGroups: [] }, 'ldap needs allowedGroups'],
      [{ allowedGroups: undefined }, 'ldapAuth: allowedGroups is missing'],
      [{ allowedGroups: 'staff' }, 'ldapAuth: allowedGroups: staff is not allowed (one of any)'],
      [{ allowedGroups: ['staff'] }, '"staff" is not a distinguished name'],
      [{ allowedGroups: [''] }, '"" is not a distinguished name'],
      [{ userDnTemplate: 'uid=alice' }, 'userDnTemplate must contain %s exactly once'],
      [{ userDnTemplate: 'uid=%s,cn=%s' }, 'userDnTemplate must contain %s exactly once'],
      [{ address: '' }, 'invalid address ""'],
      [{ address: 'http://a b' }, 'invalid address'],
      [{ serviceAccount: { dn: '', password: 'x' } }, 'has no username and password of the service account'],
      [{ serviceAccount: { dn: 'cn=a', password: '' } }, 'has no username and password of the service account'],
    ] as const) {
      expect(() => ldapAuth(optionsOf(more as object)), JSON.stringify(more)).to.throw(message);
    }
  });
});
