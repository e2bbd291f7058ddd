import type { IncomingMessage } from 'node:http';
import {
  describesBytes,
  GatewayError,
  type FilteredHead,
  type Logger,
  type ResponseFilter,
  type TunnelHead,
} from '@edge-gateway/core';
import { replyError } from '../error-codes.ts';
import { EMPTY } from './body-change.ts';
import { failureFields } from './head-change.ts';
import { ResponseMessage, type RequestMessage } from './message.ts';
import type { ChangeMessage } from './transformation.ts';

export interface ResponseChoice {
  readonly request: RequestMessage;
  readonly log: Logger;
  /** Returns the change of this response, if there is one. */
  choose(head: TunnelHead): ChangeMessage | undefined;
}

/** Requests that could not be transformed. */
const failedRequests = new WeakSet<IncomingMessage>();

/** Marks a request that could not be transformed: its error response stays as it is if it cannot be transformed either. */
export function markFailed(req: IncomingMessage): void {
  failedRequests.add(req);
}

/** Returns the filter that transforms a response. */
export function transformResponse({ request, log, choose }: ResponseChoice): ResponseFilter {
  const maxBytes = request.facts.bufferLimitBytes;
  return {
    onHead(head) {
      const change = choose(head);
      if (!change) return undefined;
      const message = new ResponseMessage(head, request);
      const hasFailed = head.isLocalReply && failedRequests.has(request.req);
      const before = { status: head.status, headers: head.headers };
      const apply = (body: Buffer): Buffer => {
        try {
          return change.apply(message, body) ?? body;
        } catch (error) {
          if (hasFailed) return restore(head, before, body);
          log.info(failureFields(request.facts, error), 'response cannot be transformed');
          return failed(head, error);
        }
      };
      if (change.readsBody) return { maxBytes, tooLarge: payloadTooLarge, transform: apply };
      const body = apply(EMPTY);
      return body === EMPTY ? undefined : { stream: () => replacement(body) };
    },
    onTunnel(head) {
      const { headers } = head;
      try {
        choose(head)?.apply(new ResponseMessage(head, request), EMPTY);
      } catch (error) {
        log.info(failureFields(request.facts, error), 'response cannot be transformed');
        head.headers = headers;
      }
    },
  };
}

function restore(head: FilteredHead, before: Pick<FilteredHead, 'status' | 'headers'>, body: Buffer): Buffer {
  Object.assign(head, before);
  return body;
}

/** The body of a failed transformation, instead of the one that would pass. */
async function* replacement(body: Buffer): AsyncIterable<Buffer> {
  yield body;
}

/** Turns a response that cannot be transformed into a 400. */
function failed(head: FilteredHead, error: unknown): Buffer {
  if (!(error instanceof GatewayError)) throw error;
  const reply = error.reply?.body ?? 'bad request: the response cannot be transformed';
  head.status = error.status;
  head.headers = ['content-type', 'text/plain', ...head.headers.filter((_, i, all) => keeps(all[i - (i % 2)]!))];
  return Buffer.from(String(reply), 'utf8');
}

/** Headers that describe the body that is replaced. */
const OF_BODY = /^(?:content-.*|etag|last-modified)$/i;
const keeps = (name: string): boolean => !OF_BODY.test(name) && !describesBytes(name.toLowerCase(), '');

const payloadTooLarge = (): GatewayError =>
  replyError('ERR_ROUTING_BODY_TOO_LARGE', { body: 'payload too large', details: 'response_payload_too_large' });
