import { canonicalName, isHeaderName, isIdentityHeader } from '@edge-gateway/core';
import type { Document } from './document.ts';
import type { Operation } from './operations.ts';
import { listOf, textOf, type Placed } from './values.ts';

/** A parameter as the document declares it. */
export interface DeclaredParameter extends Placed {
  readonly place: string;
  readonly name: string;
}

const PLACES: ReadonlySet<unknown> = new Set(['path', 'query', 'header', 'cookie']);
/** Headers that are not parameters (OpenAPI 3, Parameter Object); `authorization` is still reported. */
const IGNORED = /^(accept|content-type)$/i;

/** Characters of the name of a parameter. */
const MAX_NAME = 1024;

/** Returns the parameters of an operation; those of the operation replace those of its path. Throws an `Error` for a name that is too long. */
export function declaredParameters({ placed, shared }: Operation, document: Document): readonly DeclaredParameter[] {
  const found = new Map<string, DeclaredParameter>();
  for (const [index, each] of [...listOf(placed.value['parameters']), ...shared].entries()) {
    const { value, pointer } = document.follow(each, `${placed.pointer}/parameters/${index}`);
    const name = textOf(value['name']);
    const place = textOf(value['in']);
    if (name === undefined || place === undefined || !PLACES.has(place)) continue;
    if (name.length > MAX_NAME) throw new Error(`a parameter has a name of more than ${MAX_NAME} characters`);
    const key = `${place} ${name}`;
    if (!found.has(key) && !(place === 'header' && IGNORED.test(name))) found.set(key, { place, name, value, pointer });
  }
  return [...found.values()];
}

/** Returns why clients must not set a parameter; `undefined` if they may. */
export function withheld(place: string, name: string, grantedHeaders: ReadonlySet<string>): string | undefined {
  if (place === 'cookie') return 'arguments cannot set cookies';
  if (place !== 'header') return undefined;
  if (!isHeaderName(name)) return 'invalid header name';
  if (!isIdentityHeader(name) && !grantedHeaders.has(canonicalName(name))) return undefined;
  return 'only the gateway may set this header';
}
