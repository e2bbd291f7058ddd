import { expect } from 'chai';
import {
  canonicalPath,
  DEFAULT_PATH_SETTINGS,
  type CanonicalPath,
  type PathSettings,
} from '../../../src/route/match/canonical-path.ts';

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
  ['merges slashes after dot segments, as Envoy does', '/a//../b', { path: '/a/b' }, { mergeSlashes: true }],
  ['keeps slashes in front', '//evil.example/x', { path: '//evil.example/x' }],
  ['keeps slashes alone', '///', { path: '///' }],
  ['resolves raw dot segments', '/a/./b/../c', { path: '/a/c' }],
  ['resolves encoded dot segments', '/a/%2e/b/%2E%2e/c', { path: '/a/c' }],
  ['resolves half encoded dot segments', '/a/.%2E/b', { path: '/b' }],
  ['resolves a dot segment at the end to its folder', '/a/b/..', { path: '/a/' }],
  ['resolves an encoded dot segment at the end', '/a/b/%2e%2e', { path: '/a/' }],
  ['resolves a single dot at the end', '/a/.', { path: '/a/' }],
  ['resolves dot segments alone', '/..', { path: '/' }],
  ['stops at the root', '/../../a', { path: '/a' }],
  ['stops at the root with encoded dot segments', '/%2e%2e/%2e%2e/a', { path: '/a' }],
  ['pops an empty segment', '/a//../b', { path: '/a/b' }],
  ['leaves what follows an empty segment', '/a/..//evil.example', { path: '//evil.example' }],
  ['leaves the query alone', '/a/../b?x=/../%2e%2e//&y=%2E', { path: '/b?x=/../%2e%2e//&y=%2E' }],
  ['leaves dot segments of a query alone', '/?/../a', { path: '/?/../a' }],
  ['keeps three dots and names with dots', '/.../..a/a../.a', { path: '/.../..a/a../.a' }],
  [
    'rejects raw dot segments without normalizePath',
    '/a/../b',
    { refuse: 'ERR_ROUTING_DOT_SEGMENT' },
    { normalizePath: false },
  ],
  [
    'rejects encoded dot segments without normalizePath',
    '/a/%2e%2e/b',
    { refuse: 'ERR_ROUTING_DOT_SEGMENT' },
    { normalizePath: false },
  ],
  ['refuses double-encoded dot segments', '/a/%252e%252e/b', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['refuses dot segments behind an escaped slash', '/a/..%2fb', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['refuses encoded dot segments behind an escaped slash', '/a/%2e%2e%2fb', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['refuses half double-encoded dot segments', '/a/.%252e/b', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  [
    'refuses a double-encoded dot segment behind a resolved one',
    '/a/../%252e%252e/b',
    { refuse: 'ERR_ROUTING_DOT_SEGMENT' },
  ],
  ['refuses a backslash behind dot segments', '/a/..\\b', { refuse: 'ERR_ROUTING_BACKSLASH' }],
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
  ['resolves dot segments that unescaped slashes make', '/a/%2e%2e%2fb', { path: '/b' }, { escapedSlashes: 'forward' }],
  [
    'never redirects to another host by unescaped slashes',
    '/%2Fevil.example',
    { redirect: '/.//evil.example', status: 307 },
    { escapedSlashes: 'redirect' },
  ],
  [
    'never redirects to another host by dot segments',
    '/a/..%2F/evil.example',
    { redirect: '/.//evil.example', status: 307 },
    { escapedSlashes: 'redirect' },
  ],
];

const AS_WRITTEN: typeof TABLE = [
  ['keeps a canonical path', '/a/b%2F%C3%A9//c?x=%61', { path: '/a/b%2F%C3%A9//c?x=%61' }],
  ['writes escapes in upper case', '/a%2fb', { path: '/a%2Fb' }],
  ['rejects raw dot segments', '/a/../b', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['rejects encoded dot segments', '/a/%2e', { refuse: 'ERR_ROUTING_DOT_SEGMENT' }],
  ['rejects an escaped letter', '/%61dmin', { refuse: 'ERR_ROUTING_NOT_CANONICAL' }],
  ['rejects an escaped capital', '/%41dmin', { refuse: 'ERR_ROUTING_NOT_CANONICAL' }],
  ['rejects an escaped digit', '/v%31', { refuse: 'ERR_ROUTING_NOT_CANONICAL' }],
  ['rejects an escaped tilde', '/%7Eme', { refuse: 'ERR_ROUTING_NOT_CANONICAL' }],
  ['rejects an escaped dot in a name', '/a%2Eb', { refuse: 'ERR_ROUTING_NOT_CANONICAL' }],
  [
    'rejects an escaped letter without normalizePath',
    '/%61dmin',
    { refuse: 'ERR_ROUTING_NOT_CANONICAL' },
    { normalizePath: false },
  ],
  ['keeps the case of escapes without normalizePath', '/a%2fb', { path: '/a%2fb' }, { normalizePath: false }],
  ['rejects bytes that would be escaped', '/\u00c3\u00a9', { refuse: 'ERR_ROUTING_NOT_CANONICAL' }],
  [
    'rejects an escaped letter beside a byte that would be escaped',
    '/%61\u00c3\u00a9%62',
    { refuse: 'ERR_ROUTING_NOT_CANONICAL' },
  ],
  ['rejects slashes that would be merged', '//admin', { refuse: 'ERR_ROUTING_NOT_CANONICAL' }, { mergeSlashes: true }],
  [
    'rejects slashes that would be unescaped',
    '/a%2fadmin',
    { refuse: 'ERR_ROUTING_ESCAPED_SLASH' },
    { escapedSlashes: 'forward' },
  ],
  [
    'redirects escaped slashes where asked',
    '/%61%2fb',
    { redirect: '/a/b', status: 307 },
    { escapedSlashes: 'redirect' },
  ],
];

describe('canonical path as written', () => {
  for (const [name, target, result, settings] of AS_WRITTEN) {
    it(`${name}: ${JSON.stringify(target)}`, () => {
      const all = { ...DEFAULT_PATH_SETTINGS, asWritten: true, ...settings };
      expect(canonicalPath(target, all)).to.deep.equal(result);
    });
  }
});

describe('canonical path', () => {
  for (const [name, target, result, settings] of TABLE) {
    it(`${name}: ${JSON.stringify(target)}`, () => {
      expect(canonicalPath(target, { ...DEFAULT_PATH_SETTINGS, ...settings })).to.deep.equal(result);
    });
  }

  it('returns a canonical path', () => {
    for (const [, target, , settings] of TABLE) {
      const all = { ...DEFAULT_PATH_SETTINGS, ...settings };
      const once = canonicalPath(target, all);
      if ('path' in once) expect(canonicalPath(once.path, all)).to.deep.equal(once);
      if (!('redirect' in once)) continue;
      const path = once.redirect.replace(/^\/\.(?=\/\/)/, '');
      expect(canonicalPath(once.redirect, all)).to.deep.equal({ path });
    }
  });

  it('resolves dot segments as a browser does, and never leaves one', () => {
    const parts = ['a', '', '.', '..', '%2e', '.%2E', '..a', '%2e%2E'];
    for (let i = 0; i < 20_000; i++) {
      const length = 1 + Math.floor(Math.random() * 6);
      const target = `/${Array.from({ length }, () => parts[Math.floor(Math.random() * parts.length)]).join('/')}`;
      const result = canonicalPath(target, DEFAULT_PATH_SETTINGS);
      expect(result, target).to.deep.equal({ path: new URL(`http://a${target}`).pathname });
    }
  });
});
