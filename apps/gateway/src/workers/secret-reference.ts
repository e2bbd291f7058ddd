import type { Sds, SslFiles } from '@edge-gateway/core/schema';

/** A reference to certificate files or to a discovered secret. */
export type Reference = { readonly files: SslFiles } | { readonly sds: Sds };

/** Identifies the content of a reference; different from `<namespace>/<name>`, which identifies a secret. */
export function referenceKey(reference: Reference): string {
  return JSON.stringify(reference);
}
