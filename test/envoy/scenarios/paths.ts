import { ask, envoys, envoyText, ours, ourText, type Group } from '../scenario.ts';

const rewrite = (from: string, to: string): Group => ({
  name: `prefix rewrite of ${from} to ${to}`,
  ours: { routes: [ours({ prefix: from }, { prefixRewrite: to })] },
  envoy: { routes: [envoys({ prefix: from }, { prefix_rewrite: to })] },
  cases: {
    'replaces the prefix': ask(`GET ${from}/x`),
    'replaces the whole path': ask(`GET ${from}`),
    'keeps the query': ask(`GET ${from}?a=b/c`),
  },
});

export const paths: readonly Group[] = [
  {
    name: 'path',
    ours: { routes: [ourText('admin', { prefix: '/admin' }), ours()] },
    envoy: { routes: [envoyText('admin', { prefix: '/admin' }), envoys()] },
    cases: {
      'with dot segments is resolved': ask('GET /a/../b/./c'),
      'with dot segments is matched resolved': ask('GET /a/../admin'),
      'with escaped dot segments is resolved': ask('GET /a/%2e%2E/admin'),
      'above the root': ask('GET /../../etc'),
      'with dots in names': ask('GET /a..b/.../c.'),
      'with dots in the query': ask('GET /a?b=/../c'),
      'with two slashes is kept': ask('GET //a//b'),
      'with two slashes does not match': ask('GET //admin'),
      'with an escaped slash is kept': ask('GET /a%2Fb'),
      'with escaped unreserved characters': ask('GET /%61dmin'),
      'with lower-case escapes': ask('GET /%c3%a9'),
      'with an escaped NUL': ask('GET /a%00b'),
      'with an invalid escape': ask('GET /a%zzb'),
      'with overlong UTF-8': ask('GET /%c0%af'),
      'with a backslash': ask('GET /a\\b'),
      'with a fragment': ask('GET /a#b'),
      'with dot segments encoded twice': ask('GET /a/%252e%252e/admin'),
      'with a path parameter before dot segments': ask('GET /a/..;/admin'),
      'with dot segments behind an escaped slash': ask('GET /a%2f..%2fadmin'),
      'with quotes and braces': ask("GET /a'(b){c}|d"),
      'with a trailing dot segment': ask('GET /a/b/..'),
      'with an empty query': ask('GET /a?'),
      'with several question marks': ask('GET /a?b?c'),
    },
  },
  {
    name: 'without normalizePath',
    ours: { listener: { httpConnectionManagerSettings: { normalizePath: false } } },
    envoy: { manager: { normalize_path: false } },
    cases: { 'a path with dot segments': ask('GET /a/../b'), 'a plain path': ask('GET /a/b%2e') },
  },
  {
    name: 'mergeSlashes',
    ours: {
      routes: [ourText('admin', { prefix: '/admin' }), ours()],
      listener: { httpConnectionManagerSettings: { mergeSlashes: true } },
    },
    envoy: { routes: [envoyText('admin', { prefix: '/admin' }), envoys()], manager: { merge_slashes: true } },
    cases: {
      'merges slashes before matching': ask('GET //admin'),
      'forwards one slash': ask('GET /a///b/?c=//d'),
    },
  },
  ...(
    [
      ['KEEP_UNCHANGED', 'KEEP_UNCHANGED'],
      ['REJECT_REQUEST', 'REJECT_REQUEST'],
      ['UNESCAPE_AND_REDIRECT', 'UNESCAPE_AND_REDIRECT'],
      ['UNESCAPE_AND_FORWARD', 'UNESCAPE_AND_FORWARD'],
    ] as const
  ).map(([action, same]): Group => ({
    name: `escaped slashes, ${action}`,
    ours: { listener: { httpConnectionManagerSettings: { pathWithEscapedSlashesAction: action } } },
    envoy: { manager: { path_with_escaped_slashes_action: same } },
    cases: {
      'in the path': ask('GET /a%2Fb?d'),
      'and backslashes in the path': ask('GET /a%5cb'),
      'only in the query': ask('GET /a?b=%2F'),
    },
  })),
  rewrite('/a', '/b'),
  rewrite('/a/b', '/'),
  {
    name: 'exact path',
    ours: { routes: [ours({ exact: '/a' }, { prefixRewrite: '/b' })] },
    envoy: { routes: [envoys({ path: '/a' }, { prefix_rewrite: '/b' })] },
    cases: { 'is rewritten with its query': ask('GET /a?x') },
  },
  {
    name: 'case-insensitive prefix',
    ours: { routes: [ours({ prefix: '/a', caseSensitive: false }, { prefixRewrite: '/b' })] },
    envoy: { routes: [envoys({ prefix: '/a', case_sensitive: false }, { prefix_rewrite: '/b' })] },
    cases: { 'is rewritten': ask('GET /A/x') },
  },
  {
    name: 'regex path',
    ours: { routes: [ours({ regex: '/a[0-9]/.*' }, { prefixRewrite: '/b' })] },
    envoy: { routes: [envoys({ safe_regex: { regex: '/a[0-9]/.*' } }, { prefix_rewrite: '/b' })] },
    cases: { 'is replaced as a whole by a prefix rewrite': ask('GET /a1/x?y') },
  },
];
