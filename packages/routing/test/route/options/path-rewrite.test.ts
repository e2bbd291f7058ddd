import { expect } from 'chai';
import { compilePathRewrite, rewritePath, rewritePrefix } from '../../../src/route/options/path-rewrite.ts';
import { served } from '../../served.ts';

const TABLE: readonly (readonly [path: string, matched: number, replacement: string, result: string | undefined])[] = [
  ['/api/x?y=/api', 4, '/v1', '/v1/x?y=/api'],
  ['/api/x?y=/../z', 4, '/v1', '/v1/x?y=/../z'],
  ['/api/x', 4, '/', '/x'],
  ['/api', 4, '/', '/'],
  ['/apix', 4, '/', '/x'],
  ['/api/x', 5, '/', '/x'],
  ['/exact?y', 6, '/new', '/new?y'],
  ['/api?y', 4, 'v1', '/v1?y'],
  ['/api../admin', 4, '/v1/', undefined],
  ['/api.%2e/admin', 4, '/v1/', undefined],
  ['/api//evil.example', 4, '/', '//evil.example'],
  ['//evil.example/x', 1, '/v1', '/v1/evil.example/x'],
  ['/api', 4, '/w?fixed=1', '/w?fixed=1'],
  ['/api/x', 4, '/w?fixed=1', '/w/x?fixed=1'],
  ['/api/x?y=1', 4, '/w?fixed=1', '/w/x?fixed=1&y=1'],
  ['/api/x?y=1', 4, '/w/?', '/w/x?y=1'],
  ['/api/x?', 4, '/w?fixed=1', '/w/x?fixed=1'],
  ['/api/x', 4, '?fixed=1', '/x?fixed=1'],
  ['/api/../admin', 4, '/w?fixed=1', undefined],
];

describe('prefix rewrite', () => {
  for (const [path, matched, replacement, result] of TABLE) {
    it(`returns ${result ?? 'undefined'} for ${path} with ${replacement}`, () => {
      expect(rewritePrefix(path, matched, replacement)).to.equal(result);
    });
  }
});

type Row = readonly [path: string, regex: string, substitution: string, result: string | undefined];

const REGEX_TABLE: readonly Row[] = [
  ['/service/foo/v1/api', '^/service/([^/]+)(/.*)$', '\\2/instance/\\1', '/v1/api/instance/foo'],
  ['/xxx/one/yyy/one/zzz', 'one', 'two', '/xxx/two/yyy/two/zzz'],
  ['/aaa/XxX/bbb', '(?i)/xxx/', '/yyy/', '/aaa/yyy/bbb'],
  ['/a/b?q=/a/', '/a/', '/c/', '/c/b?q=/a/'],
  ['/a', 'b', 'c', '/a'],
  ['/api/x', '^/api/', '', '/x'],
  ['/api', '^/api', '', '/'],
  ['/a/b', '/(a)/(b)', '\\0/\\2', '/a/b/b'],
  ['/a/b', 'b', '\\\\', undefined],
  ['/a/b', 'b', '#x', undefined],
  ['/a/b', '/a/(x)?', '/\\1', '/b'],
  ['/api/..x', '^/api/\\.\\.x$', '/..', undefined],
  ['/a.b/admin', '(\\.)b', '\\1.', '/a../admin'],
  ['/x./admin', '^/x', '/.', undefined],
  ['/a/b', 'b', 'b c', undefined],
  ['/a/b', 'b', 'b\r\nx: y', undefined],
  ['/a/b', 'b', '%2e%2e', undefined],
];

describe('regex rewrite', () => {
  for (const [path, pattern, substitution, result] of REGEX_TABLE) {
    it(`returns ${result ?? 'undefined'} for ${path} with ${JSON.stringify(substitution)}`, () => {
      const rewrite = compilePathRewrite({ regexRewrite: { pattern: { regex: pattern }, substitution } })!;
      expect(rewritePath(path, 1, rewrite)).to.equal(result);
    });
  }

  it('throws for both rewrites', () => {
    const options = { prefixRewrite: '/a', regexRewrite: { pattern: { regex: 'a' }, substitution: 'b' } };
    expect(() => compilePathRewrite(options)).to.throw('cannot be combined');
  });

  it('sends the path before as x-envoy-original-path', async () => {
    const regexRewrite = { pattern: { regex: '^/pets/(\\d+)$' }, substitution: '/v2/pet/\\1' };
    const gateway = await served({ options: { regexRewrite } });
    const { url, headers } = await gateway.seen('/pets/42?x=1');
    await gateway.close();
    expect([url, headers['x-envoy-original-path']]).to.deep.equal(['/v2/pet/42?x=1', '/pets/42?x=1']);
  });

  it('rejects a request whose path it would turn into a dot segment', async () => {
    const regexRewrite = { pattern: { regex: '^/pets/(.*)x$' }, substitution: '/v2/\\1' };
    const gateway = await served({ options: { regexRewrite } });
    const { status, body } = await gateway.ask('/pets/..x');
    await gateway.close();
    expect([status, JSON.parse(body).code]).to.deep.equal([400, 'ERR_ROUTING_DOT_SEGMENT']);
  });
});
