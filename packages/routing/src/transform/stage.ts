import type { Logger, TunnelHead } from '@edge-gateway/core';
import type { TransformationStage } from '@edge-gateway/core/schema';
import { allHold, compileConditions, type Condition } from '../route/match/conditions.ts';
import { compileMatcher, pathFits, type CompiledMatcher } from '../route/match/matcher.ts';
import { compileTransformation } from './compile.ts';
import type { RequestMessage } from './message.ts';
import type { ChangeMessage } from './transformation.ts';

/** One entry of `requestTransforms`. */
export interface RequestEntry {
  /** `undefined` matches every request. */
  readonly matcher: CompiledMatcher | undefined;
  /** `undefined` leaves the request unchanged, and still ends the search. */
  readonly request: ChangeMessage | undefined;
  readonly response: ChangeMessage | undefined;
  readonly clearRouteCache: boolean;
}

interface ResponseEntry {
  readonly conditions: readonly Condition[];
  /** Empty matches all. */
  readonly details: string;
  readonly response: ChangeMessage | undefined;
}

export interface StageEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly escape: boolean;
  readonly log: Logger;
  readonly logsAll: boolean;
}

/** A compiled stage. */
export interface CompiledStage {
  /** Returns the entry that applies to a request: the first that matches. */
  entryOf(message: RequestMessage): RequestEntry | undefined;
  readonly changesResponses: boolean;
  /** Returns the change of a response: that of the entry of its request, otherwise the first that matches. */
  responseOf(entry: RequestEntry | undefined, head: TunnelHead): ChangeMessage | undefined;
}

/** Compiles one stage. Returns `undefined` if it changes nothing. Throws for invalid entries. */
export function compileStage(stage: TransformationStage, environment: StageEnvironment): CompiledStage | undefined {
  const onRequest = { ...environment, side: 'request' as const };
  const onResponse = { ...environment, side: 'response' as const };
  const entries = (stage.requestTransforms ?? []).map((entry): RequestEntry => ({
    // Paths are always case-sensitive here.
    matcher: entry.matcher && compileMatcher({ ...entry.matcher, caseSensitive: true }),
    request: compileTransformation(entry.requestTransformation, onRequest),
    response: compileTransformation(entry.responseTransformation, onResponse),
    clearRouteCache: entry.clearRouteCache === true,
  }));
  const responses = (stage.responseTransforms ?? []).map((entry): ResponseEntry => ({
    conditions: compileConditions({ headers: entry.matchers ?? [] }),
    details: entry.responseCodeDetails ?? '',
    response: compileTransformation(entry.responseTransformation, onResponse),
  }));
  const changesResponses = entries.some((each) => each.response) || responses.some((each) => each.response);
  if (!changesResponses && !entries.some(({ request }) => request)) return undefined;
  return {
    entryOf: (message) => entries.find(({ matcher }) => !matcher || fits(matcher, message)),
    changesResponses,
    responseOf(entry, head) {
      if (entry?.response) return entry.response;
      return responses.find((each) => responseFits(each, head))?.response;
    },
  };
}

function fits(matcher: CompiledMatcher, message: RequestMessage): boolean {
  const { pathname, method } = message;
  return pathFits(matcher, pathname, method) && allHold(matcher.conditions, message);
}

function responseFits({ conditions, details }: ResponseEntry, { status, headers, details: actual }: TunnelHead) {
  if (details !== '' && details !== actual) return false;
  if (conditions.length === 0) return true;
  const pseudo = [':status', String(status)];
  return allHold(conditions, { method: '', authority: '', path: '', pathname: '', headers: [...pseudo, ...headers] });
}
