import { expect } from 'chai';
import {
  canonicalPath,
  DEFAULT_PATH_SETTINGS,
  type CanonicalPath,
  type PathSettings,
} from '../../src/match/canonical-path.ts';

const TABLE: readonly (readonly [
  name: string,
  target: string,
  result: CanonicalPath,
  settings?: Partial<PathSettings>,
])[] = [
  ['keeps a plain path', '/a/b?x=1&y=%zz', { path: '/a/b?x=1&y=%zz' }],
  ['keeps the root', '/', { path: '/' }],
  ['keeps a dot inside a segment', '/a.b/.well-known/...', { path: '/a.b/.well-known/...' }],
  ['keeps slashes inside', '/a//b', { path: '/a//b' }],
  ['keeps an escaped slash', '/a%2fb', { path: '/a%2Fb' }],
  ['unescapes what needs no escape', '/%61dmin/%7Eme', { path: '/admin/~me' }],
  ['leaves escapes alone without normalizePath', '/%61', { path: '/%61' }, { normalizePath: false }],
  ['escapes bytes of UTF-8', '/\u00c3\u00a9?q=\u00c3\u00a9', { path: '/%C3%A9?q=\u00c3\u00a9' }],
  ['merges slashes', '/a//b///', { path: '/a/b/' }, { mergeSlashes: true }],
  ['merges leading slashes', '//a', { path: '/a' }, { mergeSlashes: true }],
  ['redirects raw dot segments', '/a/./b/../c?x', { redirect: '/a/c?x', status: 308 }],
  ['redirects a trailing dot segment', '/a/b/..', { redirect: '/a/', status: 308 }],
  ['redirects a climb above the root', '/../../a', { redirect: '/a', status: 308 }],
  [
    'refuses raw dot segments without normalizePath',
    '/a/../b',
    { refuse: 'ERR_ROUTING_DOT_SEGMENT' },
    { normalizePath: false },
  ],
  ['refuses a redirect to another host by dot segments', '/a/..//evil.example', { refuse: 'ERR_ROUTING_DOUBLE_SLASH' }],
  ['refuses encoded dot segments', '/a/%2e%2e/b', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['refuses half encoded dot segments', '/a/.%2E/b', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['refuses double-encoded dot segments', '/a/%252e%252e/b', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['refuses dot segments behind an escaped slash', '/a/..%2fb', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['refuses dot segments behind an escaped backslash', '/a/..%5cb', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['refuses dot segments with parameters', '/a/..;x=1/b', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['refuses a backslash', '/a\\b', { refuse: 'ERR_ROUTING_BACKSLASH' }],
  ['refuses NUL', '/a%00', { refuse: 'ERR_ROUTING_BAD_PERCENT' }],
  ['refuses an invalid percent', '/a%zz', { refuse: 'ERR_ROUTING_BAD_PERCENT' }],
  ['refuses a cut-off percent', '/a%2', { refuse: 'ERR_ROUTING_BAD_PERCENT' }],
  ['refuses overlong UTF-8 of a slash', '/a%c0%afb', { refuse: 'ERR_ROUTING_BAD_UTF8' }],
  ['refuses overlong UTF-8 of three bytes', '/a%e0%80%af', { refuse: 'ERR_ROUTING_BAD_UTF8' }],
  ['refuses bytes that are not UTF-8', '/\u00ff', { refuse: 'ERR_ROUTING_BAD_UTF8' }],
  ['refuses a fragment', '/a#b', { refuse: 'ERR_ROUTING_FRAGMENT' }],
  ['refuses a fragment behind a query', '/a?x#b', { refuse: 'ERR_ROUTING_FRAGMENT' }],
  ['refuses leading slashes', '//evil.example', { refuse: 'ERR_ROUTING_DOUBLE_SLASH' }],
  ['refuses control characters', '/a\tb', { refuse: 'ERR_ROUTING_BAD_PATH' }],
  ['refuses control characters in the query', '/a?\u0001', { refuse: 'ERR_ROUTING_BAD_PATH' }],
  ['refuses what is not a path', '*', { refuse: 'ERR_ROUTING_BAD_TARGET' }],
  [
    'refuses escaped slashes where asked',
    '/a%2Fb',
    { refuse: 'ERR_ROUTING_ESCAPED_SLASH' },
    { escapedSlashes: 'reject' },
  ],
  [
    'redirects escaped slashes where asked',
    '/a%2Fb',
    { redirect: '/a/b', status: 307 },
    { escapedSlashes: 'redirect' },
  ],
  ['unescapes slashes where asked', '/a%2fb', { path: '/a/b' }, { escapedSlashes: 'forward' }],
  ['refuses an unescaped backslash', '/a%5cb', { refuse: 'ERR_ROUTING_BACKSLASH' }, { escapedSlashes: 'forward' }],
  [
    'refuses another host by unescaped slashes',
    '/%2Fevil.example',
    { refuse: 'ERR_ROUTING_DOUBLE_SLASH' },
    { escapedSlashes: 'redirect' },
  ],
];

describe('canonical path', () => {
  for (const [name, target, result, settings] of TABLE) {
    it(`${name}: ${JSON.stringify(target)}`, () => {
      expect(canonicalPath(target, { ...DEFAULT_PATH_SETTINGS, ...settings })).to.deep.equal(result);
    });
  }

  it('gives a path that is canonical itself', () => {
    for (const [, target, , settings] of TABLE) {
      const all = { ...DEFAULT_PATH_SETTINGS, ...settings };
      const once = canonicalPath(target, all);
      const path = 'path' in once ? once.path : 'redirect' in once ? once.redirect : undefined;
      if (path !== undefined) expect(canonicalPath(path, all)).to.deep.equal({ path });
    }
  });
});
