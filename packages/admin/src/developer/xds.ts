import type { RequestHandler } from 'express';
import { compactJson, send } from '../http/answer.ts';
import { xdsSnapshots } from '../control/snapshots-xds.ts';
import { adminError } from '../error-codes.ts';
import type { DeveloperAdminOptions } from './options.ts';

/** `/xds`: node key → snapshot. */
export function xds({ state }: DeveloperAdminOptions): RequestHandler {
  return (_req, res) => {
    const current = state();
    return send(res, compactJson(current ? xdsSnapshots(current) : {}));
  };
}

/** `/xds/{key}`: the snapshot of one node key. */
export function xdsOf({ state }: DeveloperAdminOptions): RequestHandler<{ key: string }> {
  return (req, res) => {
    const current = state();
    const snapshots = current ? xdsSnapshots(current) : {};
    if (!Object.hasOwn(snapshots, req.params.key)) throw adminError('ERR_ADMIN_NOT_FOUND');
    return send(res, compactJson(snapshots[req.params.key]));
  };
}
