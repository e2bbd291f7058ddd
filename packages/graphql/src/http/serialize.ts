import type { ApiResult } from '../api/executable-api.ts';

/** Returns a result as JSON, with its fields in the order that the specification recommends. */
export function serialize({ data, errors, extensions }: ApiResult): string {
  return JSON.stringify(errors && errors.length > 0 ? { errors, data, extensions } : { data, extensions });
}
