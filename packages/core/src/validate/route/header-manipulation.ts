import { isHeaderName } from '../../http/header-name.ts';
import { FRAMING_HEADERS } from '../../http/reserved-headers.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { HeaderManipulation } from '../../schema/route/header-manipulation.ts';
import { each } from '../check.ts';
import { formatProblem } from '../../syntax/header-format.ts';

// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const UNSAFE_VALUE = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** Returns why a header must not be added or removed; `undefined` if it may. */
export function headerNameProblem(name: string): string | undefined {
  if (name.startsWith(':')) return `the pseudo header '${name}' must not be added or removed`;
  if (name.toLowerCase() === 'host') return `the header '${name}' must not be added or removed, see hostRewrite`;
  return isHeaderName(name) ? undefined : `'${name}' is not a header name`;
}

/** Returns problems of added and removed headers. */
export function checkHeaderManipulation(block: HeaderManipulation, at: FieldPath): FieldProblem[] {
  const { requestHeadersToAdd, requestHeadersToRemove, responseHeadersToAdd, responseHeadersToRemove } = block;
  return [
    ...each(requestHeadersToAdd, [...at, 'requestHeadersToAdd'], (added, path) => checkAdded(added, path, 'request')),
    ...each(responseHeadersToAdd, [...at, 'responseHeadersToAdd'], (added, path) =>
      checkAdded(added, path, 'response'),
    ),
    ...each(requestHeadersToRemove, [...at, 'requestHeadersToRemove'], checkName),
    ...each(responseHeadersToRemove, [...at, 'responseHeadersToRemove'], checkName),
  ];
}

interface Added {
  readonly header?: { readonly key?: string; readonly value?: string };
  readonly headerSecretRef?: { readonly name?: string };
}

function checkAdded({ header, headerSecretRef }: Added, at: FieldPath, use: 'request' | 'response'): FieldProblem[] {
  if (headerSecretRef) return [];
  if (!header) return [{ code: 'INVALID_HEADER', path: at, message: 'no header is given', hint: 'header' }];
  const findings: FieldProblem[] = [];
  const name = addedNameProblem(header.key ?? '');
  if (name) findings.push({ code: 'INVALID_HEADER', path: [...at, 'header', 'key'], message: name });
  const value = addedValueProblem(header, use);
  if (value) findings.push({ code: 'INVALID_HEADER', path: [...at, 'header', 'value'], message: value });
  return findings;
}

/** Returns why a header of this name must not be added; `undefined` if it may. */
export function addedNameProblem(name: string): string | undefined {
  if (FRAMING_HEADERS.has(name.toLowerCase())) return `the header '${name}' frames the message and must not be added`;
  return headerNameProblem(name);
}

/** Returns why an added header cannot have this value; `undefined` if it can. */
export function addedValueProblem(
  { key, value = '' }: NonNullable<Added['header']>,
  use: 'request' | 'response',
): string | undefined {
  if (UNSAFE_VALUE.test(value)) return `the value of header '${key}' has control characters`;
  return formatProblem(value, `${use} header`)?.message;
}

function checkName(name: string, at: FieldPath): FieldProblem[] {
  const message = headerNameProblem(name);
  return message ? [{ code: 'INVALID_HEADER', path: at, message }] : [];
}
