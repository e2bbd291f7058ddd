import type { FieldPath } from '../parse/issue.ts';
import type { HeaderManipulation } from '../schema/header-manipulation.ts';
import { each, type Finding } from './finding.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSAFE_VALUE = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** Why a header must not be added or removed; `undefined` when it may. */
export function headerNameProblem(name: string): string | undefined {
  if (name.startsWith(':')) return `the pseudo header '${name}' must not be added or removed`;
  if (name.toLowerCase() === 'host') return `the header '${name}' must not be added or removed, see hostRewrite`;
  return TOKEN.test(name) ? undefined : `'${name}' is not a header name`;
}

/** Problems of added and removed headers. */
export function checkHeaderManipulation(block: HeaderManipulation, at: FieldPath): Finding[] {
  const { requestHeadersToAdd, requestHeadersToRemove, responseHeadersToAdd, responseHeadersToRemove } = block;
  return [
    ...each(requestHeadersToAdd, [...at, 'requestHeadersToAdd'], checkAdded),
    ...each(responseHeadersToAdd, [...at, 'responseHeadersToAdd'], checkAdded),
    ...each(requestHeadersToRemove, [...at, 'requestHeadersToRemove'], checkName),
    ...each(responseHeadersToRemove, [...at, 'responseHeadersToRemove'], checkName),
  ];
}

interface Added {
  readonly header?: { readonly key?: string; readonly value?: string };
  readonly headerSecretRef?: { readonly name?: string };
}

function checkAdded({ header, headerSecretRef }: Added, at: FieldPath): Finding[] {
  if (headerSecretRef) return [];
  if (!header) return [{ code: 'INVALID_HEADER', path: at, message: 'no header is given', hint: 'header' }];
  const names = checkName(header.key ?? '', [...at, 'header', 'key']);
  if (!UNSAFE_VALUE.test(header.value ?? '')) return names;
  const message = `the value of header '${header.key}' has control characters`;
  return [...names, { code: 'INVALID_HEADER', path: [...at, 'header', 'value'], message }];
}

function checkName(name: string, at: FieldPath): Finding[] {
  const message = headerNameProblem(name);
  return message ? [{ code: 'INVALID_HEADER', path: at, message }] : [];
}
