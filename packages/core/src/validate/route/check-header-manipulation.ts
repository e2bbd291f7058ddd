import { FRAMING_HEADERS, isHeaderName, isHeaderValue } from '../../http/reserved-headers.ts';
import type { HeaderManipulation } from '../../schema/route/header-manipulation.ts';
import { each, fields, reporterOf, type Check } from '../check.ts';
import { formatProblem } from '../../syntax/header-format.ts';

const invalid = reporterOf('INVALID_HEADER');

/** Returns why a header must not be added or removed; `undefined` if it may. */
export function headerNameProblem(name: string): string | undefined {
  if (name.startsWith(':')) return `the pseudo header '${name}' must not be added or removed`;
  if (name.toLowerCase() === 'host') return `the header '${name}' must not be added or removed, see hostRewrite`;
  return isHeaderName(name) ? undefined : `invalid header name '${name}'`;
}

/** Returns problems of added and removed headers. */
export const checkHeaderManipulation: Check<HeaderManipulation> = (block, at) =>
  fields(block, at, {
    requestHeadersToAdd: (added, path) => each(added, path, checkAdded('request')),
    responseHeadersToAdd: (added, path) => each(added, path, checkAdded('response')),
    requestHeadersToRemove: checkNames,
    responseHeadersToRemove: checkNames,
  });

interface Added {
  readonly header?: { readonly key?: string; readonly value?: string };
  readonly headerSecretRef?: { readonly name?: string };
}

function checkAdded(use: 'request' | 'response'): Check<Added> {
  return ({ header, headerSecretRef }, at) => {
    if (headerSecretRef) return [];
    if (!header) return invalid('no header is set', at, { hint: 'header' });
    return [
      ...invalid(addedNameProblem(header.key ?? ''), [...at, 'header', 'key']),
      ...invalid(addedValueProblem(header, use), [...at, 'header', 'value']),
    ];
  };
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
  if (!isHeaderValue(value)) return `the value of header '${key}' has control characters`;
  return formatProblem(value, `${use} header`)?.message;
}

const checkNames: Check<readonly string[]> = (names, at) =>
  each(names, at, (name, path) => invalid(headerNameProblem(name), path));
