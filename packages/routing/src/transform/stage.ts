import type { TransformationStage, TransformationTemplate } from '@edge-gateway/core/schema';
import { allHold } from '../route/match/conditions.ts';
import { compileMatcher, pathFits, type CompiledMatcher } from '../route/match/matcher.ts';
import type { Message } from './message.ts';
import { compileRequestTemplate, type ChangeRequest, type TransformEnvironment } from './request-template.ts';

interface Entry {
  /** `undefined` fits every request. */
  readonly matcher: CompiledMatcher | undefined;
  /** `undefined` leaves the request as it is, and still ends the search. */
  readonly change: ChangeRequest | undefined;
  readonly clearRouteCache: boolean;
}

/**
 * Compiles the request side of one stage: the first entry that fits is the only one used. Gives `undefined` where
 * there is none. Throws for what cannot work.
 */
export function compileStage(stage: TransformationStage, environment: TransformEnvironment): ChangeRequest | undefined {
  const compileChange = (template: TransformationTemplate | undefined): ChangeRequest | undefined =>
    template && compileRequestTemplate(template, environment);
  const entries = (stage.requestTransforms ?? []).map(({ matcher, requestTransformation, clearRouteCache }): Entry => ({
    // The case of paths is always heeded here.
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
