import type { Facts } from '@edge-gateway/core';

/** The parts of a request that concerns can change. */
export interface ChangeableRequest {
  method: string;
  authority: string;
  /** With its query. */
  path: string;
  pathname: string;
  /** The path before concerns changed it. */
  originalPath: string;
}

/** Sets the canonical path of a request. */
export function setPath(request: ChangeableRequest, path: string, original = path): void {
  const cut = path.indexOf('?');
  request.path = path;
  request.originalPath = original;
  request.pathname = cut < 0 ? path : path.slice(0, cut);
}

/** Applies what a concern changed of method, path and host. */
export function applyFacts(request: ChangeableRequest, facts: Facts): void {
  if (facts.path !== request.path) setPath(request, facts.path, request.originalPath);
  request.method = facts.method;
  if (facts.requestChanges.length > 0) request.authority = facts.header('host') ?? request.authority;
}
