import type { IncomingMessage } from 'node:http';
import {
  asMiddleware,
  hasBody,
  readWholeBody,
  replaceBody,
  stagesOf,
  type Concern,
  type Context,
  type CreateMiddleware,
  type Handler,
  type HasTransformations,
  type Scope,
  type Stage,
  type TunnelHead,
} from '@edge-gateway/core';
import type { StagedTransformations, TransformationStage } from '@edge-gateway/core/schema';
import { EMPTY } from './body-change.ts';
import { failureFields } from './head-change.ts';
import { RequestMessage } from './message.ts';
import { markFailed, transformResponse } from './response.ts';
import { compileStage, type CompiledStage, type RequestEntry } from './stage.ts';

type StageName = 'early' | 'regular' | 'postRouting';

interface HandlerParts {
  readonly stage: CompiledStage | undefined;
  readonly context: Context;
  /** False for local replies, which the destination did not write. */
  readonly appliesTo: (head: TunnelHead) => boolean;
}

const EVERY_RESPONSE: HandlerParts['appliesTo'] = () => true;

/** Creates the handler of a stage; `undefined` without a stage. */
export function handlerOf({ stage, context, appliesTo }: HandlerParts): Handler | undefined {
  if (!stage) return undefined;
  const log = context.log.get('http');
  const selected = stage.changesResponses ? new WeakMap<IncomingMessage, RequestEntry>() : undefined;

  function change(message: RequestMessage, entry: RequestEntry, body: Buffer): void {
    const changed = entry.request!.apply(message, body);
    if (changed) replaceBody(message.req, changed);
    if (entry.clearRouteCache) message.facts.reroute = true;
  }

  const handler: Handler = function transform(req, _res, next) {
    const message = new RequestMessage(req);
    const fail = (error: unknown): void => {
      log.info(failureFields(message.facts, error), 'request cannot be transformed');
      markFailed(req);
      next(error);
    };
    const entry = stage.entryOf(message);
    if (entry) selected?.set(req, entry);
    if (!entry?.request) return next();
    const body = entry.request.readsBody ? knownBody(message) : EMPTY;
    if (!body) {
      readWholeBody(req, message.facts.bufferLimitBytes)
        .then((read) => change(message, entry, read))
        .then(() => next(), fail);
      return undefined;
    }
    try {
      change(message, entry, body);
    } catch (error) {
      return fail(error);
    }
    return next();
  };
  if (!selected) return handler;
  handler.filterResponse = (req) =>
    transformResponse({
      request: new RequestMessage(req),
      log,
      choose: (head) => (appliesTo(head) ? stage.responseOf(selected.get(req), head) : undefined),
    });
  return handler;
}

/** Returns the body if there is none, or if an earlier concern has read it; `undefined` if it must be read. */
function knownBody({ req, facts }: RequestMessage): Buffer | undefined {
  if (!hasBody(req)) return EMPTY;
  const { body, bufferLimitBytes } = facts;
  return body?.whole && body.bytes.length <= bufferLimitBytes ? body.bytes : undefined;
}

/**
 * Returns the transformations that apply: those of the most specific level that has any, for all stages. The same object for
 * the same level.
 */
function pickTransformations(levels: readonly object[]): StagedTransformations | undefined {
  const level = levels.findLast(({ stagedTransformations, transformations }: HasTransformations) => {
    return stagedTransformations !== undefined || transformations !== undefined;
  });
  return level && stagesOf(level);
}

function concernOf(name: StageName, stage: Stage, appliesTo = EVERY_RESPONSE): Concern<StagedTransformations> {
  return {
    name: `${name}Transformation`,
    option: 'stagedTransformations',
    stage,
    pick: pickTransformations,
    compile(options, context, scope?: Scope) {
      const own = options[name];
      const compiled =
        own &&
        compileStage(own, {
          env: context.env ?? {},
          escape: options.escapeCharacters ?? scope?.settings.escapeCharacters ?? false,
          log: context.log.get('http'),
          logsAll: options.logRequestResponseInfo === true || scope?.settings.logTransformations === true,
        });
      return handlerOf({ stage: compiled, context, appliesTo });
    },
  };
}

/** `stagedTransformations.early`: after external auth, before tokens and access control. */
export const earlyTransformationConcern = concernOf('early', 'earlyTransformation');

/** `stagedTransformations.regular`: after access control and rate limits. */
export const regularTransformationConcern = concernOf('regular', 'regularTransformation');

/** `stagedTransformations.postRouting`: after the endpoint is chosen; only responses of the destination. */
export const postRoutingTransformationConcern = concernOf('postRouting', 'postRouting', isFromUpstream);

/** Returns true for the response of a destination. */
export function isFromUpstream({ isLocalReply, details }: TunnelHead): boolean {
  return !isLocalReply && details === 'via_upstream';
}

/**
 * Transforms requests and responses in your own server by `requestTransforms` and `responseTransforms`, in the form they have in a
 * resource. A request that cannot be transformed is rejected with `ERR_ROUTING_TRANSFORMATION`, 400; a response becomes a 400. Bodies
 * of at most 1 MiB are read; `passthrough: {}` reads none. Throws `ERR_CORE_MIDDLEWARE` for invalid options and `ERR_ROUTING_OPTION` for a
 * template that does not parse. `clearRouteCache` has no
 * effect here.
 *
 * @example
 * app.use(
 *   transform({
 *     requestTransforms: [
 *       { requestTransformation: { transformationTemplate: { headers: { 'x-agent': { text: '{{ header("user-agent") }}' } } } } },
 *     ],
 *   }),
 * );
 */
export const transform: CreateMiddleware<TransformationStage> = asMiddleware(
  {
    name: 'transform',
    option: 'stagedTransformations',
    stage: 'regularTransformation',
    compile(options: TransformationStage, context: Context) {
      const environment = { env: context.env ?? {}, escape: false, log: context.log.get('http'), logsAll: false };
      return handlerOf({ stage: compileStage(options, environment), context, appliesTo: EVERY_RESPONSE });
    },
  },
  'TransformationStage',
);
