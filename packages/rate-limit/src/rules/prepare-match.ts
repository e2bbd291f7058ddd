import type { CompiledAction } from '../descriptor/actions.ts';
import { describe, type CompiledDescriptor } from '../descriptor/compile-actions.ts';
import { GENERIC_KEY } from '../descriptor/descriptor.ts';
import type { DescribedRequest } from '../descriptor/request.ts';
import { appliedLimit, RuleHit, withValue, type Hit, type HitValues } from './hit.ts';
import { withHighestWeight } from './match.ts';
import { matchSets } from './match-sets.ts';
import type { Level, Rule, RuleSet, SetRule, TreeNode } from './rule.ts';

/** Returns the rules that a request hits; `undefined` if it has no descriptor. */
export type PreparedMatch = (request: DescribedRequest) => readonly Hit[] | undefined;

/** The same for one descriptor: one hit, or a list. */
type MatchOne = (request: DescribedRequest) => Hit | readonly Hit[] | undefined;

/**
 * Compiles descriptors and rules into one step, which hits the same rules as {@link createMatch} does with the descriptors, but creates no
 * descriptors: what does not depend on the request is matched now. With `isReused`, the hits of tuples are used again by the next
 * call. Returns `undefined` if several rule sets may match one descriptor.
 */
export function prepareMatch(
  descriptors: readonly CompiledDescriptor[],
  ruleSets: readonly RuleSet[],
  isReused: boolean,
): PreparedMatch | undefined {
  const all: MatchOne[] = [];
  for (const each of descriptors) {
    const candidates = ruleSetsOf(each, ruleSets);
    if (!candidates || candidates.length > 1) return undefined;
    const ruleSet = candidates[0] ?? NO_RULES;
    const start = ruleSet.resource === undefined ? 0 : 1;
    all.push(
      each.isSet ? prepareSet(each, ruleSet.sets, start) : prepareTuple(each, { tree: ruleSet.tree, start, isReused }),
    );
  }
  return all.length === 1 && isReused ? matchOnly(all[0]!) : matchAll(all);
}

function matchOnly(only: MatchOne): PreparedMatch {
  const hits: Hit[] = [];
  return (request) => {
    const matched = only(request);
    if (matched === undefined) return undefined;
    if (isList(matched)) return matched;
    hits[0] = matched;
    return hits;
  };
}

function matchAll(all: readonly MatchOne[]): PreparedMatch {
  return (request) => {
    const hits: Hit[] = [];
    let isDescribed = false;
    for (let i = 0; i < all.length; i++) {
      const matched = all[i]!(request);
      if (matched === undefined) continue;
      isDescribed = true;
      if (isList(matched)) hits.push(...matched);
      else hits.push(matched);
    }
    if (!isDescribed) return undefined;
    return hits.length < 2 ? hits : withHighestWeight(hits);
  };
}

function isList(matched: Hit | readonly Hit[]): matched is readonly Hit[] {
  return Array.isArray(matched);
}

const NO_HITS: readonly Hit[] = Object.freeze([]);
const NO_RULES: RuleSet = { resource: undefined, tree: new Map(), sets: [], rules: [] };

/** Returns the rule sets that match a descriptor; `undefined` if that depends on the request. */
function ruleSetsOf({ actions: [first] }: CompiledDescriptor, ruleSets: readonly RuleSet[]): RuleSet[] | undefined {
  const isFixed = first?.key !== GENERIC_KEY || first.entry !== undefined;
  if (!isFixed && ruleSets.some(({ resource }) => resource !== undefined)) return undefined;
  return ruleSets.filter(
    ({ resource }) => resource === undefined || (first?.key === GENERIC_KEY && first.entry?.value === resource),
  );
}

function prepareSet(descriptor: CompiledDescriptor, sets: readonly SetRule[], start: number): MatchOne {
  return (request) => {
    const described = describe(descriptor, request);
    if (!described) return undefined;
    const hits: Hit[] = [];
    matchSets(sets, described, start, hits);
    return hits;
  };
}

interface TuplePlace {
  readonly tree: Level;
  /** Entries before it are not part of the tree. */
  readonly start: number;
  readonly isReused: boolean;
}

/** What happens with the value of an action: it only has to exist, it is a part of the counter, or the tree is searched for it. */
type Use = 'exists' | 'counts' | 'matches';

interface Step {
  readonly action: CompiledAction;
  readonly use: Use;
}

function prepareTuple(
  { actions, limitOf, costOf }: CompiledDescriptor,
  { tree, start, isReused }: TuplePlace,
): MatchOne {
  const { steps, node, level } = walk(actions, tree, start);
  const known = node?.rule;
  const isSearched = steps.some(({ use }) => use === 'matches');
  const counting = steps.filter(({ use }) => use === 'counts');
  const reused = isReused && known?.limit && !isSearched ? new RuleHit(known, known.limit, undefined, 1) : undefined;

  const only = counting.length === 1 && steps.length === 1 ? steps[0]!.action : undefined;
  if (reused && only && !limitOf && !costOf) {
    // The most common form: one value, and everything else is known.
    const { isSecret } = only;
    return (request) => {
      const value = only.valueOf(request);
      if (value === undefined) return undefined;
      reused.setValue(value, isSecret);
      return reused;
    };
  }

  return (request) => {
    let rule: Rule | undefined = known;
    let below: Level | undefined = level;
    let values: HitValues;
    for (let i = 0; i < steps.length; i++) {
      const { action, use } = steps[i]!;
      const value = action.valueOf(request);
      if (value === undefined) return undefined;
      if (use === 'counts') values = withValue(values, { value, isSecret: action.isSecret });
      else if (use === 'matches' && below) {
        const next: TreeNode | undefined = nodeOf(below, action.key, value);
        if (next && below.get(action.key)!.any === next) {
          values = withValue(values, { value, isSecret: action.isSecret });
        }
        rule = next?.rule;
        below = next?.children;
      }
    }
    const limit = rule && appliedLimit(rule, limitOf?.(request));
    return limit ? new RuleHit(rule!, limit, values, costOf?.(request) ?? 1) : NO_HITS;
  };
}

/** Matches actions as far as their values do not matter. */
function walk(actions: readonly CompiledAction[], tree: Level, start: number) {
  const steps: Step[] = [];
  let node: TreeNode | undefined;
  let level: Level | undefined = tree;
  let isKnown = true;
  actions.forEach((action, i) => {
    if (i < start || !level) {
      if (!action.isConstant) steps.push({ action, use: 'exists' });
      return;
    }
    const branch = level.get(action.key);
    if (isKnown && branch && !action.entry && branch.byValue.size > 0) isKnown = false;
    if (!isKnown) {
      steps.push({ action, use: 'matches' });
      return;
    }
    node = branch && (action.entry ? branch.byValue.get(action.entry.value) : undefined);
    const isAny = !node;
    node ??= branch?.any;
    level = node?.children;
    if (node && isAny) steps.push({ action, use: 'counts' });
    else if (!action.isConstant) steps.push({ action, use: 'exists' });
  });
  return { steps, node, level };
}

function nodeOf(level: Level, key: string, value: string): TreeNode | undefined {
  const branch = level.get(key);
  return branch && (branch.byValue.get(value) ?? branch.any);
}
