import type { OpaAuth, OpaServerAuth } from '../../schema/auth/auth-methods.ts';
import type { Check } from '../check.ts';
import { unless } from './check-login.ts';

/** A part of a path of the Data API: no separator, and not a step to another folder. */
const SEGMENT = /^(?!\.{1,2}$)[^/?#%\\\s\p{Cc}]+$/u;
const HOST_AND_PORT = /^(?:[^\s/:@?#]+|\[[0-9a-f:.]+\]):\d{1,5}$/i;

/** Returns the problems of a step with Rego modules. */
export const checkOpa: Check<OpaAuth> = ({ modules = [], query = '' }, at) => [
  ...unless(modules.length > 0, [...at, 'modules'], 'opaAuth needs at least one ConfigMap with modules'),
  ...unless(query.trim() !== '', [...at, 'query'], 'the query must not be empty'),
];

/** Returns the problems of a step with an Open Policy Agent server. */
export const checkOpaServer: Check<OpaServerAuth> = ({ package: name = '', ruleName, serverAddr }, at) => [
  ...unless(name.split('.').every(isSegment), [...at, 'package'], 'must be names separated by dots, e.g. play.network'),
  ...unless(
    !ruleName || ruleName.split('/').every(isSegment),
    [...at, 'ruleName'],
    'must be names separated by slashes, e.g. allow/reason',
  ),
  ...unless(
    !serverAddr || isServerAddress(serverAddr),
    [...at, 'serverAddr'],
    'must be host:port, or an http or https URL without a path, a query and a user',
  ),
];

function isSegment(text: string): boolean {
  return SEGMENT.test(text);
}

function isServerAddress(text: string): boolean {
  if (HOST_AND_PORT.test(text)) return URL.canParse(`http://${text}`);
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return false;
  return url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
}
