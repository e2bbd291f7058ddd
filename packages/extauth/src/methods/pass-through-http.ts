import { createRequire } from 'node:module';
import type { Agent } from 'undici';
import {
  DEFAULTS,
  decodeContent,
  nodeDelay,
  parseDuration,
  parseJson,
  readLimited,
  toByteString,
  type AuthAllowed,
  type AuthDecision,
  type AuthDenied,
  type AuthMethodKind,
  type AuthRequest,
  type HeaderChange,
  timeoutSignal,
} from '@edge-gateway/core';
import type { PassThroughAuth } from '@edge-gateway/core/schema';
import { configError, extauthError } from '../error-codes.ts';
import { isFraming } from '../chain/grants.ts';
import { denialBody } from '../server/denial-body.ts';
import { MAX_ANSWER_BYTES } from '../server/ask.ts';
import { delayMs } from '../settings.ts';
import { clientError, isServerFailure, SAFE_HEADER_BYTES } from '../chain/failure.ts';
import { serverTls } from '../server/tls.ts';

const require = createRequire(import.meta.url);
/** Loads the client with the first AuthConfig that calls a server: it has a hundred modules. */
const loadClient = () => require('undici') as typeof import('undici');

const DEFAULT_TIMEOUT_MS = parseDuration(DEFAULTS.passThroughTimeout);
const DEFAULT_CONNECTIONS = 100;

/** Requests that `failureModeAllow` allowed because the server failed. */
const BYPASSED = {
  path: 'extauth.vendor.io/http_passthrough_bypass_failure',
  metric: 'extauth_vendor_io_http_passthrough_bypass_failure',
};

const EMPTY = Buffer.alloc(0);

type HttpSpec = NonNullable<PassThroughAuth['http']>;

/** Response of an auth server. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Dependencies of the method. */
export interface PassThroughHttpParts {
  /** Root certificates as PEM, in addition to those of the system; those of a step's secret replace both. */
  readonly moreRoots?: string | undefined;
}

/** Calls an auth server by `POST`: 200 allows, every other status is the response to the client. */
export const passThroughHttpMethod: AuthMethodKind<PassThroughAuth> = createPassThroughHttpMethod();

/** Creates the method for auth servers over HTTP. */
export function createPassThroughHttpMethod({ moreRoots }: PassThroughHttpParts = {}): AuthMethodKind<PassThroughAuth> {
  return {
    type: 'passThroughAuth.http',
    grantedHeaders: ({ http: { response = {} } = {} }) =>
      [...(response.allowedUpstreamHeaders ?? []), ...(response.allowedUpstreamHeadersToOverwrite ?? [])].map((name) =>
        name.toLowerCase(),
      ),
    create(spec, { id, context }) {
      const { http = {}, failureModeAllow = false } = spec;
      const url = urlOf(http, id);
      const { host } = new URL(url);
      const timeoutMs = delayMs(http.connectionTimeout) ?? DEFAULT_TIMEOUT_MS;
      const tls = { config: http.tlsConfig, id, context };
      const isTls = url.startsWith('https:');
      const dispatcher = agentOf(http, isTls ? { secureContext: serverTls({ ...tls, moreRoots }) } : {});
      const bypassed = context.metrics.counter(BYPASSED);

      async function ask(request: AuthRequest, question: ReturnType<typeof questionOf>): Promise<Answer> {
        const limits = [timeoutSignal(timeoutMs), ...(request.signal ? [request.signal] : [])];
        const response = await loadClient().request(url, {
          method: 'POST',
          dispatcher,
          headers: question.headers,
          body: question.body ?? null,
          headersTimeout: nodeDelay(delayMs(http.responseHeaderTimeout) ?? 0),
          signal: AbortSignal.any(limits),
        });
        const { statusCode: status, headers } = response;
        const body = await bytesOf(response.body).catch((error: unknown) => {
          // A denial stays a denial, even if its body cannot be read.
          if (status !== 200 && status < 500) return EMPTY;
          throw error;
        });
        return { status, headers, body };
      }

      return {
        async authorize(request): Promise<AuthDecision> {
          const question = questionOf(spec, request);
          let answer: Answer | undefined;
          try {
            answer = await ask(request, question);
          } catch (error) {
            if (request.signal?.aborted || !isServerFailure(error)) throw error;
            if (question.clientBytes > SAFE_HEADER_BYTES)
              throw clientError('no response to a call with request headers this long', 431, error);
            const details = { requestId: request.requestId, config: id, server: host, err: error };
            context.log.get('ext_authz').warn(details, 'no response from the auth server');
          }
          if (answer?.status === 200) return allow(http, answer);
          if (answer && answer.status < 500) return deny(http, answer);
          if (failureModeAllow) {
            bypassed.value++;
            return { allowed: true };
          }
          const denied = answer
            ? deny(http, { ...answer, body: EMPTY })
            : refused(403, 'the auth server does not respond');
          return { ...denied, outcome: 'indeterminate' };
        },
        close: () => dispatcher.close(),
      };
    },
  };
}

function urlOf({ url = '' }: HttpSpec, id: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed.href;
  throw configError(`${id}: passThroughAuth.http.url must be an http or https URL`);
}

function agentOf({ connectionPool }: HttpSpec, tls: object): Agent {
  const idleMs = delayMs(connectionPool?.idleTimeout) ?? 0;
  const { Agent } = loadClient();
  return new Agent({
    connections: connectionPool?.maxConns || DEFAULT_CONNECTIONS,
    connect: tls,
    pipelining: 1,
    ...(idleMs > 0 && { keepAliveTimeout: nodeDelay(idleMs), keepAliveMaxTimeout: nodeDelay(idleMs) }),
  });
}

/** Returns the request to an auth server. `clientBytes` is the size of the headers that the client sent. */
function questionOf(spec: PassThroughAuth, request: AuthRequest) {
  const { request: wanted = {} } = spec.http ?? {};
  // The body of a denial is for a client that may not decode it.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  let clientBytes = 0;
  for (const written of wanted.allowedHeaders ?? []) {
    const name = written.toLowerCase();
    const value = isFraming(name) ? undefined : request.header(name);
    if (value === undefined) continue;
    headers[name] = value;
    clientBytes += name.length + value.length;
  }
  const body = bodyFor(spec, request);
  if (body !== undefined) headers['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(wanted.headersToAdd ?? {}))
    headers[name.toLowerCase()] = toByteString(value);
  return { headers, body, clientBytes };
}

/** Returns the body of the call; `undefined` if the block includes nothing. */
function bodyFor({ config, http }: PassThroughAuth, { state, metadata, body }: AuthRequest): string | undefined {
  const { passThroughState, passThroughFilterMetadata, passThroughBody } = http?.request ?? {};
  const parts = {
    ...(config !== undefined && { config }),
    ...(passThroughState && { state }),
    ...(passThroughFilterMetadata && { filterMetadata: Object.fromEntries(metadata) }),
    ...(passThroughBody && { body: body?.toString('utf8') ?? '' }),
  };
  return Object.keys(parts).length === 0 ? undefined : JSON.stringify(parts);
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const body = await readLimited(stream, MAX_ANSWER_BYTES);
  if (!body) throw extauthError('ERR_EXTAUTH_ANSWER', 'the response is too long');
  return body;
}

function allow({ response = {} }: HttpSpec, answer: Answer): AuthDecision {
  let newState: AuthAllowed['newState'];
  if (response.readStateFromResponse) {
    newState = stateOf(answer);
    if (!newState) return { ...refused(403, 'the state in the response is invalid'), outcome: 'indeterminate' };
  }
  return {
    allowed: true,
    requestChanges: [
      ...copies(answer, response.allowedUpstreamHeaders, 'append'),
      ...copies(answer, response.allowedUpstreamHeadersToOverwrite, 'set'),
    ],
    responseChanges: copies(answer, response.allowedClientHeadersOnSuccess, 'append'),
    ...(newState && { newState }),
  };
}

function stateOf({ body, headers }: Answer): Readonly<Record<string, unknown>> | undefined {
  try {
    const decoded = decodeContent(body, codingOf(headers), MAX_ANSWER_BYTES);
    const { state } = parseJson(decoded.toString('utf8')) as { readonly state?: unknown };
    const isMap = typeof state === 'object' && state !== null && !Array.isArray(state);
    return isMap ? (state as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The `content-encoding` of a response. */
const codingOf = (headers: Answer['headers']): string | undefined =>
  [headers['content-encoding'] ?? []].flat().join() || undefined;

/** Copies headers of the response, except those that frame it. With `set` the first value of a name replaces the header, and further ones are added. */
function copies({ headers }: Answer, names: readonly string[] | undefined, op: 'set' | 'append'): HeaderChange[] {
  return (names ?? []).flatMap((written) => {
    const name = written.toLowerCase();
    const values = isFraming(name) ? [] : [headers[name] ?? []].flat();
    return values.map((value, i): HeaderChange => ({ op: i === 0 ? op : 'append', name, value }));
  });
}

/** Clients would treat a status below 300 as success. */
function deny({ response = {} }: HttpSpec, answer: Answer): AuthDenied {
  const status = answer.status >= 300 ? answer.status : 403;
  const headers = copies(answer, response.allowedClientHeadersOnDenied, 'append').flatMap((change) =>
    change.op === 'remove' ? [] : [change.name, change.value],
  );
  return {
    ...refused(status, `the auth server responded with ${answer.status}`),
    headers,
    body: denialBody(answer.body, codingOf(answer.headers), headers),
  };
}

function refused(status: number, reason: string) {
  return { allowed: false, status, reason } as const;
}
