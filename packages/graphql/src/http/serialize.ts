import type { ApiResult } from '../api/executable-api.ts';

/** A result as JSON text, with its fields in the order the specification recommends. */
export function serialize({ data, errors, extensions }: ApiResult): string {
  return JSON.stringify(errors && errors.length > 0 ? { errors, data, extensions } : { data, extensions });
}
