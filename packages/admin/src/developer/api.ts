import type { RequestHandler } from 'express';
import { compactJson, send } from '../http/answer.ts';
import { edgeSnapshot } from '../control/snapshots-edge.ts';
import type { DeveloperAdminOptions } from './options.ts';

/** `/api`: the resources in use, by kind. */
export function api({ state }: DeveloperAdminOptions): RequestHandler {
  return (_req, res) => {
    const current = state();
    return send(res, compactJson(current ? edgeSnapshot(current) : {}));
  };
}
