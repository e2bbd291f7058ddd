import {
  compileRegex,
  toByteString,
  type AuthDecision,
  type AuthRequest,
  type CallUpstream,
  type HeaderChange,
  type ResourceRef,
  type UpstreamResponse,
} from '@edge-gateway/core';
import type { ExtAuthServer } from '@edge-gateway/core/schema';
import { isFraming } from '../chain/grants.ts';
import { sentHeadersOf } from '../grpc/check-request.ts';
import { INTENDED_STATUS_HEADER } from '../grpc/protocol.ts';
import { denialBody } from '../server/denial-body.ts';
import { MAX_ANSWER_BYTES } from '../server/ask.ts';
import { UnusableAnswer } from '../chain/failure.ts';

type HttpService = NonNullable<ExtAuthServer['httpService']>;

/** Request headers that a server always receives. */
const ALWAYS_SENT = ['authorization', 'x-envoy-auth-partial-body'] as const;
/** Response headers that a client always receives with a denial. */
const ALWAYS_RETURNED = ['www-authenticate', 'proxy-authenticate', 'location'] as const;
/** A response header with the names of request headers to remove, separated by commas. */
const TO_REMOVE = 'x-envoy-auth-headers-to-remove';

/** Where and how long a server is asked. */
export interface HttpCheckParts {
  readonly call: CallUpstream;
  readonly upstream: ResourceRef;
  readonly timeoutMs: number;
}

/** Compiles `httpService`. The result rejects as `call` does, and with `ERR_EXTAUTH_ANSWER` if the server responds with 5xx. */
export function compileHttpCheck(written: HttpService, { call, upstream, timeoutMs }: HttpCheckParts) {
  const prefix = (written.pathPrefix ?? '').replace(/\/$/, '');
  const headersOf = compileSentHeaders(written.request);
  const { allowed, denied } = compileResponses(written.response);

  return async (request: AuthRequest): Promise<AuthDecision> => {
    const { body, signal } = request;
    const answer = await call(upstream, {
      method: request.method,
      path: prefix + request.path,
      headers: headersOf(request),
      // Without one, `content-length: 0` as from Envoy, for GET too.
      body: body ?? '',
      timeoutMs,
      maxBodyBytes: MAX_ANSWER_BYTES,
      ...(signal && { signal }),
    });
    if (answer.status >= 500) {
      throw new UnusableAnswer(`the auth server responded with status ${answer.status}`, { answered: answer.status });
    }
    return answer.status === 200 ? allowed(answer) : denied(answer);
  };
}

/** Returns the function for the headers of the call: those of the request that are allowed, and then the added ones. */
function compileSentHeaders({ allowedHeaders = [], allowedHeadersRegex = [], headersToAdd = {} }: Sent = {}) {
  const names = new Set<string>([...ALWAYS_SENT, ...allowedHeaders.map(lower)]);
  const patterns = allowedHeadersRegex.map((written) => compileRegex(written));
  const added = Object.entries(headersToAdd).map(([name, value]): [string, string] => [
    lower(name),
    toByteString(value),
  ]);
  for (const [name] of added) names.delete(name);
  const replaced = new Set(added.map(([name]) => name));
  const isSent = (name: string): boolean =>
    !replaced.has(name) && (names.has(name) || patterns.some((pattern) => pattern.fullMatch(name)));

  return (request: AuthRequest): string[] => {
    const sent = replaced.has('host') ? [] : ['host', request.host];
    for (const [name, value] of Object.entries(sentHeadersOf(request))) {
      if (name !== 'content-length' && !isFraming(name) && isSent(name)) sent.push(name, value);
    }
    for (const [name, value] of added) sent.push(name, value);
    // The body of a denial is for a client that may not decode it.
    if (!sent.some((name, i) => i % 2 === 0 && name === 'accept-encoding')) sent.push('accept-encoding', 'identity');
    return sent;
  };
}

type Sent = HttpService['request'];

function compileResponses(written: HttpService['response'] = {}) {
  const toSet = new Set((written.allowedUpstreamHeaders ?? []).map(lower));
  const toAppend = new Set((written.allowedUpstreamHeadersToAppend ?? []).map(lower));
  const toClientOnSuccess = new Set((written.allowedClientHeadersOnSuccess ?? []).map(lower));
  const { allowedClientHeaders = [] } = written;
  const toClient = new Set([...ALWAYS_RETURNED, ...allowedClientHeaders.map(lower)]);
  const isReturned = (name: string): boolean => allowedClientHeaders.length === 0 || toClient.has(name);

  return {
    allowed(answer: UpstreamResponse): AuthDecision {
      const changes = pairsOf(answer).flatMap(([name, value]): HeaderChange[] => {
        if (toSet.has(name)) return [{ op: 'set', name, value }];
        return toAppend.has(name) ? [{ op: 'append', name, value }] : [];
      });
      const removed = (answer.headers[TO_REMOVE] ?? '').split(',').map((name) => lower(name.trim()));
      const removals = removed
        .filter((name) => name !== '' && !isFraming(name))
        .map((name): HeaderChange => ({ op: 'remove', name }));
      const responseChanges = pairsOf(answer)
        .filter(([name]) => toClientOnSuccess.has(name))
        .map(([name, value]): HeaderChange => ({ op: 'append', name, value }));
      return { allowed: true, requestChanges: [...changes, ...removals], responseChanges };
    },
    denied(answer: UpstreamResponse): AuthDecision {
      const headers = pairsOf(answer).filter(([name]) => name !== INTENDED_STATUS_HEADER && isReturned(name));
      return {
        allowed: false,
        status: deniedStatusOf(answer),
        headers: headers.flat(),
        body: denialBody(answer.body, answer.headers['content-encoding'], headers.flat()),
        reason: `the auth server responded with status ${answer.status}`,
      };
    },
  };
}

/** Clients would treat a status below 300 as success: only our own auth service can intend it, in a header. */
function deniedStatusOf({ status, headers }: UpstreamResponse): number {
  if (status >= 300) return status;
  const intended = headers[INTENDED_STATUS_HEADER];
  return intended !== undefined && /^2\d\d$/.test(intended) ? Number(intended) : 403;
}

/** The headers of a response, names in lower case, without those of the connection and the framing. */
function pairsOf({ rawHeaders, headers }: UpstreamResponse): [name: string, value: string][] {
  const flat = rawHeaders ?? Object.entries(headers).flat();
  const pairs: [string, string][] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const name = lower(flat[i]!);
    if (!isFraming(name) && name !== 'content-length') pairs.push([name, flat[i + 1]!]);
  }
  return pairs;
}

const lower = (name: string): string => name.toLowerCase();
