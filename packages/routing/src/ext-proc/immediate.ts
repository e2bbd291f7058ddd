import { STATUS_CODES } from 'node:http';
import { applyHeaderChanges, GatewayError, replyBody } from '@edge-gateway/core';
import { changesOf, RejectedMutation } from './mutations.ts';
import type { MutationRules } from './mutation-rules.ts';
import type { ImmediateResponse } from './messages.ts';

/** Returns the error whose response is the one of the server. Its headers follow the rules of other changes. */
export function immediateError(reply: ImmediateResponse, rules: MutationRules): GatewayError {
  const status = reply.status?.code ?? 0;
  const isValid = status >= 200 && status <= 599 && STATUS_CODES[status] !== undefined;
  const body = replyBody(reply.body);
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  const flat = flatHeaders(reply, rules);
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    // Several cookies cannot be joined.
    if (name === 'set-cookie' && headers[name]) cookies.push(flat[i + 1]!);
    else headers[name] = headers[name] === undefined ? flat[i + 1]! : `${headers[name]}, ${flat[i + 1]!}`;
  }
  if (reply.grpcStatus) headers['grpc-status'] = String(reply.grpcStatus.status);
  const details = reply.details.replaceAll(/\s+/g, '_') || 'ext_proc_immediate_response';
  return new GatewayError('the external processor responded', {
    code: 'ERR_ROUTING_EXT_PROC',
    status: isValid ? status : 500,
    headers,
    reply: { body, details, cookies, isFinal: true },
  });
}

function flatHeaders({ headers }: ImmediateResponse, rules: MutationRules): string[] {
  const target = { rules, pseudoHeaders: NONE, onRejected: () => undefined };
  try {
    return applyHeaderChanges([], changesOf(headers, target));
  } catch (error) {
    if (error instanceof RejectedMutation) return [];
    throw error;
  }
}

/** The status has a field of its own. */
const NONE: ReadonlySet<string> = new Set();
