import { ask, envoys, ours, type Group } from '../scenario.ts';

const rewrite = (name: string, option: object, envoy: object, cases: Group['cases']): Group => ({
  name: `host rewrite ${name}`,
  ours: { routes: [ours({ prefix: '/' }, { appendXForwardedHost: false, ...option })] },
  envoy: { routes: [envoys({ prefix: '/' }, envoy)] },
  cases,
});

export const hostRewrite: readonly Group[] = [
  rewrite(
    'to a literal',
    { hostRewrite: 'new.example' },
    { host_rewrite_literal: 'new.example' },
    {
      'replaces the host': ask('GET /a'),
      'keeps x-forwarded-host of no client': ask('GET /a', ['X-A: 1']),
    },
  ),
  rewrite(
    'by a header',
    { hostRewriteHeader: 'x-host' },
    { host_rewrite_header: 'x-host' },
    {
      'uses its value': ask('GET /a', ['X-Host: h.example']),
      'without the header keeps the host': ask('GET /a'),
    },
  ),
  rewrite(
    'by the path',
    { hostRewritePathRegex: { pattern: { regex: '^/([^/]+)/.*$' }, substitution: '\\1.example' } },
    { host_rewrite_path_regex: { pattern: { regex: '^/([^/]+)/.*$' }, substitution: '\\1.example' } },
    { 'uses its groups': ask('GET /tenant/a?b=c'), 'of another path uses the path': ask('GET /a') },
  ),
  rewrite(
    'with x-forwarded-host',
    { hostRewrite: 'new.example', appendXForwardedHost: true },
    { host_rewrite_literal: 'new.example', append_x_forwarded_host: true },
    { 'names the original host': ask('GET /a') },
  ),
  rewrite(
    'by a header with x-forwarded-host',
    { hostRewriteHeader: 'x-host', appendXForwardedHost: true },
    { host_rewrite_header: 'x-host', append_x_forwarded_host: true },
    { 'names the original host': ask('GET /a', ['X-Host: h.example']) },
  ),
  {
    name: 'host of the endpoint',
    ours: {
      routes: [ours({ prefix: '/' }, { autoHostRewrite: true, appendXForwardedHost: false })],
    },
    envoy: {
      routes: [envoys({ prefix: '/' }, { auto_host_rewrite: true })],
    },
    cases: { 'that is an address keeps the host': ask('GET /a') },
  },
];
