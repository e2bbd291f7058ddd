import type { DescribedRequest } from './request.ts';

/** Where a value is in metadata. */
export interface MetadataKey {
  readonly key?: string;
  readonly path?: readonly { readonly key?: string }[];
}

/** Reads one value of metadata. */
export type ReadMetadata = (request: DescribedRequest) => unknown;

/** Returns the function that reads a value; it returns `undefined` if the value is absent. */
export function compileMetadataKey(
  { key = '', path = [] }: MetadataKey,
  source: 'DYNAMIC' | 'ROUTE_ENTRY',
): ReadMetadata {
  const steps = path.map((step) => step.key ?? '');
  return (request) => {
    let value = source === 'DYNAMIC' ? request.metadata(key) : request.routeMetadata(key);
    for (const step of steps) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
      value = (value as Record<string, unknown>)[step];
    }
    return value;
  };
}
