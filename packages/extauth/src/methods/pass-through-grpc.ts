import { createRequire } from 'node:module';
import type { Client, ServiceError } from '@grpc/grpc-js';
import {
  DEFAULTS,
  parseDuration,
  type AuthDecision,
  type AuthMethodKind,
  type AuthRequest,
  wait,
} from '@edge-gateway/core';
import { channelOptions, createGrpcClient } from '@edge-gateway/core/grpc';
import type { PassThroughAuth } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';
import { delayMs } from '../settings.ts';
import { isServerFailure } from '../chain/failure.ts';
import { checkRequestOf } from '../grpc/check-request.ts';
import { decisionOf } from '../grpc/check-response.ts';
import { isRefusal } from '../grpc/refusals.ts';
import { authorization, type CheckResponse } from '../grpc/protocol.ts';
import { MAX_ANSWER_BYTES } from '../server/ask.ts';
import { serverTls } from '../server/tls.ts';

const DEFAULT_TIMEOUT_MS = parseDuration(DEFAULTS.passThroughTimeout);
const DEFAULT_BACK_OFF_MS = 1_000;
const ADDRESS = /^(?:dns:\/{2,3})?(?:[^\s/:]+|\[[0-9a-f:.]+\]):\d{1,5}$/i;

/** Requests that `failureModeAllow` allowed because the server failed. */
const BYPASSED = {
  path: 'extauth.vendor.io/passthrough_failure_bypass',
  metric: 'extauth_vendor_io_passthrough_failure_bypass',
};

/** Namespaces of metadata in which servers receive `config`, and receive and return the state. */
const CONFIG_KEY = 'vendor.auth.passthrough.config';
const STATE_KEY = 'vendor.auth.passthrough';

type GrpcSpec = NonNullable<PassThroughAuth['grpc']>;

type Check = (
  request: object,
  options: { readonly deadline: number },
  callback: (error: ServiceError | null, answer?: CheckResponse) => void,
) => { cancel(): void };

const require = createRequire(import.meta.url);
/** Loads the library with the first AuthConfig that calls a server. */
const loadGrpc = () => require('@grpc/grpc-js') as typeof import('@grpc/grpc-js');

/** Calls your own auth server over Envoy's `ext_authz` protocol, version 3. */
export const passThroughGrpcMethod: AuthMethodKind<PassThroughAuth> = {
  type: 'passThroughAuth.grpc',
  create({ grpc = {}, config, failureModeAllow = false }, { id, context }) {
    const { address = '' } = grpc;
    if (!ADDRESS.test(address)) throw configError(`${id}: passThroughAuth.grpc.address must be host:port`);
    const timeoutMs = delayMs(grpc.connectionTimeout) ?? DEFAULT_TIMEOUT_MS;
    const { connectivityState, credentials } = loadGrpc();
    const security = grpc.tlsConfig
      ? credentials.createFromSecureContext(serverTls({ config: grpc.tlsConfig, id, context }))
      : credentials.createInsecure();
    const options = channelOptions({ maxBytes: MAX_ANSWER_BYTES });
    const server = createGrpcClient((watch) => new (authorization())(address, security, { ...options, ...watch }));
    const log = context.log.get('ext_authz');
    const bypassed = context.metrics.counter(BYPASSED);
    let wasConnected = false;

    function once(
      client: Client,
      { signal }: AuthRequest,
      { question, deadline }: { readonly question: object; readonly deadline: number },
    ): Promise<CheckResponse> {
      return new Promise((resolve, reject) => {
        const check = (client as unknown as { readonly Check: Check }).Check.bind(client);
        const call = check(question, { deadline }, (error, answer) => {
          signal?.removeEventListener('abort', cancel);
          if (error) reject(error);
          else resolve(answer!);
        });
        const cancel = (): void => call.cancel();
        signal?.addEventListener('abort', cancel, { once: true });
      });
    }

    async function ask(request: AuthRequest): Promise<CheckResponse> {
      const deadline = Date.now() + timeoutMs;
      const question = checkRequestOf(request, {
        contextExtensions: { config_id: id },
        metadata: metadataOf(request, config),
        time: context.now(),
      });
      for (let retry = 0; ; retry++) {
        const client = server.current();
        try {
          const answer = await once(client, request, { question, deadline });
          wasConnected = true;
          return answer;
        } catch (error) {
          const connection = client.getChannel().getConnectivityState(false);
          wasConnected ||= connection === connectivityState.READY;
          const waitMs = wasConnected ? backOff(grpc, retry) : undefined;
          const isOver = request.signal?.aborted || waitMs === undefined || Date.now() + waitMs >= deadline;
          if (isOver || connection === connectivityState.SHUTDOWN) throw error;
          await wait(waitMs, undefined, request.signal ? { signal: request.signal } : {});
        }
      }
    }

    return {
      async authorize(request): Promise<AuthDecision> {
        let answer: CheckResponse;
        try {
          answer = await ask(request);
        } catch (error) {
          if (request.signal?.aborted || !isServerFailure(error)) throw error;
          const details = { requestId: request.requestId, config: id, server: address, err: error };
          log.warn(details, 'no response from the auth server');
          if (failureModeAllow && !isRefusal(error)) {
            bypassed.value++;
            return { allowed: true };
          }
          return { allowed: false, status: 403, outcome: 'indeterminate', reason: 'the auth server does not respond' };
        }
        return withState(decisionOf(answer, request));
      },
      close: () => server.close(),
    };
  },
};

function metadataOf({ metadata, state }: AuthRequest, config: unknown): ReadonlyMap<string, object> {
  return new Map<string, object>([
    ...metadata,
    ...(Object.keys(state).length > 0 ? [[STATE_KEY, state] as const] : []),
    ...(typeof config === 'object' && config !== null ? [[CONFIG_KEY, config] as const] : []),
  ]);
}

/** Moves the state out of the metadata of a decision. */
function withState(decision: AuthDecision): AuthDecision {
  const { metadata: all = {}, ...others } = decision;
  if (!others.allowed) return others;
  const { [STATE_KEY]: state, ...metadata } = all;
  return {
    ...others,
    ...(typeof state === 'object' && state !== null && { state: state as Readonly<Record<string, unknown>> }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Returns the milliseconds before the next attempt; `undefined` if there is none. */
function backOff({ retryPolicy }: GrpcSpec, retry: number): number | undefined {
  if (!retryPolicy || retry >= (retryPolicy.numRetries ?? 1)) return undefined;
  const { baseInterval, maxInterval } = retryPolicy.retryBackOff ?? {};
  const base = delayMs(baseInterval) ?? DEFAULT_BACK_OFF_MS;
  const most = delayMs(maxInterval) ?? 10 * base;
  return Math.min(base * 2 ** retry, most);
}
