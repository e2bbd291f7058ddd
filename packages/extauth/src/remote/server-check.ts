import {
  clusterName,
  identityFrom,
  type AuthDecision,
  type AuthPlace,
  type AuthRequest,
  type Context,
} from '@edge-gateway/core';
import { configError } from '../error-codes.ts';
import type { Chain } from '../chain/chain.ts';
import { runStep } from '../chain/step.ts';
import { checkRequestOf } from '../grpc/check-request.ts';
import { changesByAppend, decisionOf } from '../grpc/check-response.ts';
import type { AuthSettings } from '../settings.ts';
import { checkByGrpc } from './grpc-check.ts';
import { compileHttpCheck } from './http-check.ts';
import type { SharedClients } from './shared-clients.ts';

/** Namespace of verified tokens, the only metadata that servers receive. */
const JWT_METADATA = 'envoy.filters.http.jwt_authn';

export type ServerPlace = Extract<AuthPlace, { type: 'server' }>;

/** An auth server, and what it receives about the route. */
export interface ServerCheckParts {
  readonly place: ServerPlace;
  readonly settings: AuthSettings;
  readonly context: Context;
  readonly clients: SharedClients;
  /** Returns the context extensions for a request. */
  readonly extensionsOf: (request: AuthRequest) => Readonly<Record<string, string>>;
}

/**
 * Creates the check that asks an auth server. A server that fails has not decided; an upstream that does not exist denies every
 * request, also with `failureModeAllow`.
 */
export function createServerCheck({ place, settings, context, clients, extensionsOf }: ServerCheckParts): Chain {
  const { server, upstream } = place;
  const { callUpstream, now } = context;
  if (!callUpstream) throw configError('auth servers need a data plane with upstreams');
  const { timeoutMs, userIdHeader } = settings;
  const cluster = clusterName(upstream);
  const log = context.log.get('ext_authz');
  const held = server.httpService ? undefined : clients.hold(upstream, server.grpcService?.authority ?? '', context);
  if (held && callUpstream.find?.(upstream)) {
    const connected = held.clients.connect();
    context.holdListeners?.(`the connection to the auth server ${cluster}`, connected);
  }
  const askHttp =
    server.httpService && compileHttpCheck(server.httpService, { call: callUpstream, upstream, timeoutMs });

  async function ask(request: AuthRequest): Promise<AuthDecision> {
    if (askHttp) return askHttp(request);
    const question = checkRequestOf(request, {
      contextExtensions: extensionsOf(request),
      metadata: verifiedTokens(request),
      time: now(),
    });
    const { signal } = request;
    const response = await checkByGrpc(held!.clients, question, { signal, timeoutMs });
    return decisionOf(response, request, changesByAppend);
  }

  const method = {
    async authorize(request: AuthRequest): Promise<AuthDecision> {
      return withUser(await ask(request), { userIdHeader, cluster });
    },
  };

  return {
    async authorize(request) {
      if (callUpstream.find && !callUpstream.find(upstream)) {
        const reason = `the upstream ${cluster} of the auth server does not exist`;
        log.error({ requestId: request.requestId, server: cluster }, reason);
        return { allowed: false, status: 403, reason, outcome: 'defect' };
      }
      return runStep(method, request, { timeoutMs, log, config: cluster, step: place.name || 'extauth' });
    },
    bodyBytes: () => 0,
    close: () => Promise.resolve(held?.release()),
  };
}

function verifiedTokens({ metadata }: AuthRequest): ReadonlyMap<string, object> {
  const tokens = metadata.get(JWT_METADATA);
  return new Map(tokens ? [[JWT_METADATA, tokens]] : []);
}

/** The user whom the server names in the header of the settings is the identity of the request. */
function withUser(
  decision: AuthDecision,
  { userIdHeader, cluster }: { readonly userIdHeader: string; readonly cluster: string },
): AuthDecision {
  const change = decision.allowed && decision.requestChanges?.findLast(({ name }) => name === userIdHeader);
  if (!change || change.op === 'remove') return decision;
  const user = Buffer.from(change.value, 'latin1').toString('utf8');
  return { ...decision, identity: identityFrom(cluster, {}, user) };
}
