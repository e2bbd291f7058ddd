import type { DlpListener } from '@edge-gateway/core/schema';
import type { RequestView } from '../format/record.ts';
import { allHold } from '../route/match/conditions.ts';
import { compileMatcher, pathFits } from '../route/match/matcher.ts';
import { ActionSet } from './action-set.ts';

/** Returns the actions for a request; `undefined` if no rule matches. */
export type ChooseActions = (request: RequestView) => ActionSet | undefined;

/** Compiles the rules of a listener: the first that matches applies. Throws for invalid matchers and actions. */
export function compileListenerRules({ dlpRules = [] }: DlpListener, onFound: () => void): ChooseActions {
  const rules = dlpRules.map(({ matcher, actions = [] }) => ({
    matcher: matcher && compileMatcher(matcher),
    actions: new ActionSet(actions, onFound),
  }));
  return (request) => rules.find(({ matcher }) => !matcher || fits(matcher, request))?.actions;
}

function fits(matcher: ReturnType<typeof compileMatcher>, request: RequestView): boolean {
  return pathFits(matcher, request.pathname, request.method) && allHold(matcher.conditions, request);
}
