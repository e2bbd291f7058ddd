import { expect } from 'chai';
import type { RouteAction } from '@edge-gateway/core';
import { compileRedirect, locationOf, type RedirectInput } from '../../../src/route/options/redirect.ts';

type RedirectAction = Extract<RouteAction, { readonly type: 'redirect' }>['redirect'];

const INPUT: RedirectInput = {
  scheme: 'http',
  authority: 'a.example',
  path: '/api/x?y=1',
  pathname: '/api/x',
  matched: 4,
};

const TABLE: readonly (readonly [
  name: string,
  action: RedirectAction,
  location: string | undefined,
  input?: Partial<RedirectInput>,
])[] = [
  ['keeps everything', {}, 'http://a.example/api/x?y=1'],
  ['adds the query of a new prefix', { prefixRewrite: '/w?fixed=1' }, 'http://a.example/w/x?fixed=1&y=1'],
  [
    'adds only the query of a new prefix',
    { prefixRewrite: '/w?fixed=1', stripQuery: true },
    'http://a.example/w/x?fixed=1',
  ],
  ['escapes letters beyond ASCII', { prefixRewrite: '/w?name=Mikołaj' }, 'http://a.example/w/x?name=Miko%C5%82aj&y=1'],
  ['changes the host', { hostRedirect: 'b.example' }, 'http://b.example/api/x?y=1'],
  ['changes the scheme', { httpsRedirect: true }, 'https://a.example/api/x?y=1'],
  [
    'drops port 80 on the way to https',
    { httpsRedirect: true },
    'https://a.example/api/x?y=1',
    { authority: 'a.example:80' },
  ],
  [
    'keeps port 443 on the way to https',
    { httpsRedirect: true },
    'https://a.example:443/api/x?y=1',
    { authority: 'a.example:443' },
  ],
  [
    'keeps another port on the way to https',
    { httpsRedirect: true },
    'https://a.example:8080/api/x?y=1',
    { authority: 'a.example:8080' },
  ],
  [
    'sets the port',
    { portRedirect: 8443, httpsRedirect: true },
    'https://a.example:8443/api/x?y=1',
    { authority: 'a.example:80' },
  ],
  [
    'leaves out the default port of the new scheme',
    { portRedirect: 443, httpsRedirect: true },
    'https://a.example/api/x?y=1',
    { authority: 'a.example:8080' },
  ],
  [
    'leaves out the default port of the old scheme',
    { portRedirect: 80 },
    'http://a.example/api/x?y=1',
    { authority: 'a.example:8080' },
  ],
  [
    'changes the scheme to http',
    { schemeRedirect: 'http', portRedirect: 80 },
    'http://a.example/api/x?y=1',
    { scheme: 'https', authority: 'a.example:8443' },
  ],
  [
    'gives httpsRedirect precedence over schemeRedirect',
    { schemeRedirect: 'http', httpsRedirect: true },
    'https://a.example/api/x?y=1',
  ],
  ['sets the port of an IPv6 address', { portRedirect: 81 }, 'http://[::1]:81/api/x?y=1', { authority: '[::1]:80' }],
  ['changes the path and keeps the query', { pathRedirect: '/new' }, 'http://a.example/new?y=1'],
  ['lets a query in the path win', { pathRedirect: '/new?z=2', stripQuery: true }, 'http://a.example/new?z=2'],
  ['strips the query', { stripQuery: true }, 'http://a.example/api/x'],
  ['replaces the prefix', { prefixRewrite: '/v2' }, 'http://a.example/v2/x?y=1'],
  [
    'replaces by expression',
    { regexRewrite: { pattern: { regex: '^/api/(.*)$' }, substitution: '/\\1/api' } },
    'http://a.example/x/api?y=1',
  ],
  [
    'gives no location for a dot segment by rewriting',
    { prefixRewrite: '/v2/' },
    undefined,
    { path: '/api../x', pathname: '/api../x' },
  ],
  [
    'keeps the host where an expression makes a path of two slashes',
    { regexRewrite: { pattern: { regex: '/api' }, substitution: '/' } },
    'http://a.example//x?y=1',
  ],
  [
    'keeps the host where an expression takes the slash in front away',
    { regexRewrite: { pattern: { regex: '^/api/' }, substitution: '' } },
    'http://a.example/@evil.example?y=1',
    { path: '/api/@evil.example?y=1', pathname: '/api/@evil.example' },
  ],
  ['keeps the host where the new path has no slash in front', { pathRedirect: '.evil' }, 'http://a.example/.evil?y=1'],
  [
    'keeps the host of a path that begins with two slashes',
    {},
    'http://a.example//evil.example/x',
    { path: '//evil.example/x', pathname: '//evil.example/x', matched: 1 },
  ],
  [
    'keeps the host of such a path on the way to https',
    { httpsRedirect: true },
    'https://a.example//evil.example/x',
    { path: '//evil.example/x', pathname: '//evil.example/x', matched: 1 },
  ],
  [
    'sends such a path to the host it names',
    { hostRedirect: 'b.example' },
    'http://b.example//evil.example/x',
    { path: '//evil.example/x', pathname: '//evil.example/x', matched: 1 },
  ],
  [
    'keeps the host where a prefix leaves two slashes',
    { prefixRewrite: '/' },
    'http://a.example//evil.example',
    { path: '/api//evil.example', pathname: '/api//evil.example' },
  ],
  [
    'is never protocol-relative: with two slashes from the client',
    {},
    '/.//evil.example/x',
    { authority: '', path: '//evil.example/x', pathname: '//evil.example/x', matched: 1 },
  ],
  [
    'is never protocol-relative: with a prefix',
    { prefixRewrite: '/' },
    '/.//evil.example',
    { authority: '', path: '/api//evil.example', pathname: '/api//evil.example' },
  ],
  ['is never protocol-relative: with a path', { pathRedirect: '//evil' }, '/.//evil?y=1', { authority: '' }],
  [
    'is never protocol-relative: with an expression',
    { regexRewrite: { pattern: { regex: '/api' }, substitution: '/' } },
    '/.//x?y=1',
    { authority: '' },
  ],
  [
    'is never protocol-relative: with a backslash of the resource',
    { pathRedirect: '/\\evil.example' },
    '/./\\evil.example?y=1',
    { authority: '' },
  ],
  ['stays relative without a host', {}, '/api/x?y=1', { authority: '' }],
];

describe('redirect', () => {
  for (const [name, action, location, input] of TABLE) {
    it(name, () => {
      expect(locationOf(compileRedirect(action), { ...INPUT, ...input })).to.equal(location);
    });
  }

  it('has a status for each response code', () => {
    expect(compileRedirect({}).status).to.equal(301);
    expect(compileRedirect({ responseCode: 'SEE_OTHER' }).status).to.equal(303);
    expect(compileRedirect({ responseCode: 'PERMANENT_REDIRECT' }).status).to.equal(308);
  });

  it('rejects a line break in its parts', () => {
    expect(() => compileRedirect({ hostRedirect: 'a\r\nx: y' }))
      .to.throw()
      .with.property('code', 'ERR_ROUTING_OPTION');
  });
});
