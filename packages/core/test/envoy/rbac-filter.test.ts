import { expect } from 'chai';
import { rbacPerRoute } from '../../src/envoy/rbac-filter.ts';
import type { RbacPolicy } from '../../src/schema/auth/rbac.ts';

const CLAIMS = 'envoy.filters.http.jwt_authn';
const claim = (path: readonly string[], value: object) => ({
  metadata: { filter: CLAIMS, path: path.map((key) => ({ key })), value },
});
const text = (exact: string) => ({ string_match: { exact } });
const PRESENT = { present_match: true };
const NO_PRINCIPAL = { not_id: { any: true } };

const served = (policy: RbacPolicy, providers?: readonly string[]): any =>
  (rbacPerRoute({ policies: { one: policy } }, providers) as any).rbac.rules.policies.one;
const idsOf = (jwtPrincipal: object, providers?: readonly string[], more: object = {}): any[] =>
  served({ principals: [{ jwtPrincipal }], ...more }, providers).principals;

describe('RBAC policies for Envoys', () => {
  it('allow what they name, and nothing without any policy', () => {
    const type = 'type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute';
    expect(rbacPerRoute({}, [])).to.deep.equal({ '@type': type, rbac: { rules: { action: 'ALLOW', policies: {} } } });
    expect(rbacPerRoute({ disable: true, policies: { one: {} } }, []), 'disabled').to.deep.equal({ '@type': type });
  });

  it('apply to everybody without principals', () => {
    expect(served({}, []).principals).to.deep.equal([{ any: true }]);
  });

  it('require all claims of one token, of the provider that they name or of any', () => {
    const claims = { team: 'a', role: 'admin' };
    const of = (provider: string) => ({
      and_ids: {
        ids: [
          claim([provider], PRESENT),
          claim([provider, 'team'], text('a')),
          claim([provider, 'role'], text('admin')),
        ],
      },
    });
    expect(idsOf({ claims }, ['own'])).to.deep.equal([of('own')]);
    expect(idsOf({ claims }, ['own', 'other'])).to.deep.equal([{ or_ids: { ids: [of('own'), of('other')] } }]);
    expect(idsOf({ claims, provider: 'other' }, ['own', 'other'])).to.deep.equal([of('other')]);
    expect(idsOf({}, ['own']), 'any token').to.deep.equal([claim(['own'], PRESENT)]);
  });

  it('match no request if the route does not verify tokens of the provider', () => {
    expect(idsOf({ claims: { team: 'a' } }, [])).to.deep.equal([NO_PRINCIPAL]);
    expect(idsOf({}, [])).to.deep.equal([NO_PRINCIPAL]);
    expect(idsOf({ provider: 'other' }, ['own'])).to.deep.equal([NO_PRINCIPAL]);
  });

  it('look for a nested claim only without a claim of the whole name', () => {
    const [id] = idsOf({ claims: { 'role.name': 'admin' } }, ['own'], { nestedClaimDelimiter: '.' });
    expect(id.and_ids.ids[1]).to.deep.equal({
      or_ids: {
        ids: [
          claim(['own', 'role.name'], text('admin')),
          {
            and_ids: {
              ids: [{ not_id: claim(['own', 'role.name'], PRESENT) }, claim(['own', 'role', 'name'], text('admin'))],
            },
          },
        ],
      },
    });
  });

  it('compare values by their matcher', () => {
    const valueOf = (matcher: string | undefined, value: string | boolean) =>
      idsOf({ matcher, claims: { a: value } }, ['own'])[0].and_ids.ids[1].metadata.value;
    expect(valueOf(undefined, 'x')).to.deep.equal(text('x'));
    expect(valueOf('BOOLEAN', 'true')).to.deep.equal({ bool_match: true });
    expect(valueOf('BOOLEAN', 'false')).to.deep.equal({ bool_match: false });
    expect(valueOf('BOOLEAN', false)).to.deep.equal({ bool_match: false });
    expect(valueOf('LIST_CONTAINS', 'x')).to.deep.equal({ list_match: { one_of: text('x') } });
    expect(valueOf('REGEX_MATCH', 'x.*')).to.deep.equal({ string_match: { safe_regex: { regex: 'x.*' } } });
  });

  it('allow one of the methods below a path that all servers interpret alike', () => {
    const { permissions } = served({ permissions: { pathPrefix: '/a', methods: ['GET', 'HEAD'] } }, ['own']);
    const { rules } = permissions[0].and_rules;
    const method = (exact: string) => ({ header: { name: ':method', string_match: { exact } } });
    expect(rules[0]).to.deep.equal({ url_path: { path: { prefix: '/a' } } });
    expect(rules[2]).to.deep.equal({ or_rules: { rules: [method('GET'), method('HEAD')] } });
    const ambiguous = new RegExp(`^${rules[1].not_rule.url_path.path.safe_regex.regex.replace('(?i)', '')}$`, 'i');
    for (const path of ['/a/../b', '/a/%2e%2E/b', '/a/%252e./b', '/a//b', '/a\\b', '/a%5cb', '/a/..;x', '/a/.'])
      expect(ambiguous.test(path), path).to.equal(true);
    for (const path of ['/a', '/a/b.c', '/a/..b/c', '/a/b%2fc']) expect(ambiguous.test(path), path).to.equal(false);
    expect(served({}, ['own']).permissions).to.deep.equal([{ any: true }]);
  });

  it('are shown in a dump as they are written', () => {
    const policy: RbacPolicy = {
      principals: [{ jwtPrincipal: { provider: 'own', claims: { team: 'a' } } }, { jwtPrincipal: {} }],
      permissions: { pathPrefix: '/a' },
    };
    expect(served(policy)).to.deep.equal({
      permissions: [{ url_path: { path: { prefix: '/a' } } }],
      principals: [claim(['own', 'team'], text('a')), { any: true }],
    });
  });
});
