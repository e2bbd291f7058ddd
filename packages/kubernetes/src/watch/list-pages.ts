import { isApiError } from '../client/api-error.ts';
import { ResponseTooLarge, type ClusterClient, type ClusterRequest } from '../client/cluster-client.ts';
import type { ClusterObject } from './cluster-object.ts';

/** Limits of a page. */
export interface PageLimits {
  /** Objects of a page. */
  readonly pageSize: number;
  /** Bytes of a page; larger ones are requested again with fewer objects. */
  readonly maxPageBytes: number;
}

export const DEFAULT_PAGE: PageLimits = { pageSize: 500, maxPageBytes: 64 * 2 ** 20 };

/** The objects of a list at one resource version. The limits are those of {@link DEFAULT_PAGE} unless set. */
export interface ListRequest
  extends Pick<ClusterRequest, 'path' | 'accept' | 'signal' | 'timeoutMs'>, Partial<PageLimits> {
  readonly query: Readonly<Record<string, string | undefined>>;
}

interface Page {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly ClusterObject[] | null;
}

/**
 * Lists objects page by page and calls `onObject` for each; returns the resource version of the list. `onRestart` is called if the server
 * has forgotten the list in between: all objects come again. Pages shrink if their objects are large.
 */
export async function listPages(
  client: Pick<ClusterClient, 'send'>,
  { pageSize = DEFAULT_PAGE.pageSize, maxPageBytes = DEFAULT_PAGE.maxPageBytes, ...request }: ListRequest,
  { onObject, onRestart }: { onObject(object: ClusterObject): void; onRestart(): void },
): Promise<string> {
  let limit = pageSize;
  let next: string | undefined;
  for (;;) {
    let page: Page;
    try {
      page = await client.send<Page>(pageRequest({ ...request, pageSize, maxPageBytes }, limit, next));
    } catch (error) {
      if (error instanceof ResponseTooLarge && limit > 1) limit = Math.ceil(limit / 8);
      else if (next && isApiError(error, 410)) {
        // The objects change faster than pages can be read: one response has all of them.
        limit = 0;
        next = undefined;
        onRestart();
      } else throw error;
      continue;
    }
    for (const object of page.items ?? []) onObject(object);
    next = page.metadata?.continue || undefined;
    if (!next) return page.metadata?.resourceVersion ?? '';
  }
}

function pageRequest(request: ListRequest & PageLimits, limit: number, next: string | undefined): ClusterRequest {
  const { path, accept, signal, timeoutMs, query, maxPageBytes } = request;
  return {
    path,
    accept,
    signal,
    timeoutMs,
    query: { ...query, ...(limit > 0 && { limit }), ...(next && { continue: next }) },
    ...(limit > 0 && { maxBytes: maxPageBytes }),
  };
}
