import {
  GatewayError,
  asMiddleware,
  type Concern,
  type Context,
  type CreateMiddleware,
  type Handler,
  type HasTransformations,
  type Scope,
  stagesOf,
} from '@edge-gateway/core';
import type { StagedTransformations, TransformationStage, TransformationTemplate } from '@edge-gateway/core/schema';
import { allHold } from '../route/match/conditions.ts';
import { compileMatcher, pathFits, type CompiledMatcher } from '../route/match/matcher.ts';
import { Message } from './message.ts';
import { compileRequestTemplate, type ChangeRequest, type TransformEnvironment } from './request-template.ts';

type StageName = 'early' | 'regular';

function handlerOf(stage: TransformationStage | undefined, context: Context, escape: boolean): Handler | undefined {
  const change = stage && compileStage(stage, { env: context.env ?? {}, escape });
  if (!change) return undefined;
  const log = context.log.get('http');
  return function transform(req, _res, next) {
    const message = new Message(req);
    try {
      change(message);
    } catch (error) {
      const reason = error instanceof GatewayError && error.cause instanceof Error ? error.cause.message : '';
      log.info({ requestId: message.facts.requestId, reason }, 'request cannot be transformed');
      return next(error);
    }
    return next();
  };
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

function concernOf(stage: StageName): Concern<StagedTransformations> {
  return {
    name: `${stage}Transformation`,
    option: 'stagedTransformations',
    stage: `${stage}Transformation`,
    pick: pickTransformations,
    compile: (options, context, scope?: Scope) =>
      handlerOf(options[stage], context, options.escapeCharacters ?? scope?.settings.escapeCharacters ?? false),
  };
}

/** `stagedTransformations.early` on requests: after external auth, before tokens and access control. */
export const earlyTransformationConcern = concernOf('early');

/** `stagedTransformations.regular` on requests: after access control and rate limits. */
export const regularTransformationConcern = concernOf('regular');

/**
 * Transforms requests in your own server by `requestTransforms`, in the form they have in a resource. A request that cannot
 * be transformed is rejected with `ERR_ROUTING_TRANSFORMATION`, 400. Throws `ERR_ROUTING_OPTION` for invalid options.
 * `clearRouteCache` has no effect here.
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
export const transform: CreateMiddleware<TransformationStage> = asMiddleware({
  name: 'transform',
  option: 'stagedTransformations',
  stage: 'regularTransformation',
  compile: (options: TransformationStage, context: Context) => handlerOf(options, context, false),
});

interface Entry {
  /** `undefined` matches every request. */
  readonly matcher: CompiledMatcher | undefined;
  /** `undefined` leaves the request unchanged, and still ends the search. */
  readonly change: ChangeRequest | undefined;
  readonly clearRouteCache: boolean;
}

/**
 * Compiles the request part of one stage: only the first matching entry is used. Returns `undefined` if
 * there is none. Throws for invalid entries.
 */
function compileStage(stage: TransformationStage, environment: TransformEnvironment): ChangeRequest | undefined {
  const compileChange = (template: TransformationTemplate | undefined): ChangeRequest | undefined =>
    template && compileRequestTemplate(template, environment);
  const entries = (stage.requestTransforms ?? []).map(({ matcher, requestTransformation, clearRouteCache }): Entry => ({
    // Paths are always case-sensitive here.
    matcher: matcher && compileMatcher({ ...matcher, caseSensitive: true }),
    change: compileChange(requestTransformation?.transformationTemplate),
    clearRouteCache: clearRouteCache === true,
  }));
  if (!entries.some(({ change }) => change)) return undefined;
  return (message) => {
    const entry = entries.find(({ matcher }) => !matcher || fits(matcher, message));
    if (!entry?.change) return;
    entry.change(message);
    if (entry.clearRouteCache) message.facts.reroute = true;
  };
}

function fits(matcher: CompiledMatcher, message: Message): boolean {
  const { pathname, method } = message;
  return pathFits(matcher, pathname, method) && allHold(matcher.conditions, message);
}
