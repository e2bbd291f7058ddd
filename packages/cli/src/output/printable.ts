import { printable } from '@edge-gateway/core';

export { printable };

/** A copy of plain data in which every text is {@link printable}. */
export function printableDeep<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === 'string' ? printable(inner) : inner,
  ) as T;
}
