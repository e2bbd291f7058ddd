import { ask, envoys, ours, type Group } from '../scenario.ts';

const rewrite = (name: string, regex: string, substitution: string, cases: Group['cases']): Group => ({
  name: `regex rewrite, ${name}`,
  ours: { routes: [ours({ prefix: '/' }, { regexRewrite: { pattern: { regex }, substitution } })] },
  envoy: { routes: [envoys({ prefix: '/' }, { regex_rewrite: { pattern: { regex }, substitution } })] },
  cases,
});

export const regexRewrite: readonly Group[] = [
  rewrite('groups', '^/service/([^/]+)(/.*)$', '\\2/instance/\\1', {
    'are inserted': ask('GET /service/foo/v1/api?x=1'),
    'leave other paths': ask('GET /other'),
  }),
  rewrite('every match', 'one', 'two', {
    'is replaced': ask('GET /xxx/one/yyy/one/zzz'),
    'is not replaced in the query': ask('GET /one?one'),
  }),
  rewrite('flags', '(?i)/xxx/', '/yyy/', { 'ignore case': ask('GET /aaa/XxX/bbb') }),
  rewrite('whole match', '/a(.*)', '/b\\0', { 'is inserted': ask('GET /ax') }),
];
