import { GENERIC_KEY, type Descriptor } from '../descriptor/descriptor.ts';
import { addHit, withValue, type Hit, type HitValues } from './hit.ts';
import { matchSets } from './match-sets.ts';
import type { Level, Rule, RuleSet } from './rule.ts';

/** Returns the rules that the descriptors of a request hit. */
export type Match = (descriptors: readonly Descriptor[]) => Hit[];

/**
 * Combines the rule sets of one domain. In the trees, the whole tuple must match a path; at each entry a rule with the value is
 * preferred to one without, even if it does not lead to a rule. Of all hits in trees those with the highest weight remain, and those that
 * always apply. Rules without a limit are only hit by descriptors with a limit of their own. Rules that only count do not suppress others.
 */
export function createMatch(ruleSets: readonly RuleSet[]): Match {
  const plain: RuleSet[] = [];
  const byResource = new Map<string, RuleSet>();
  for (const ruleSet of ruleSets) {
    if (ruleSet.resource === undefined) plain.push(ruleSet);
    else byResource.set(ruleSet.resource, ruleSet);
  }
  return (descriptors) => {
    const hits: Hit[] = [];
    for (const descriptor of descriptors) {
      for (const ruleSet of plain) matchOne(ruleSet, descriptor, 0, hits);
      const first = descriptor.entries[0];
      const ruleSet = first?.key === GENERIC_KEY ? byResource.get(first.value) : undefined;
      if (ruleSet) matchOne(ruleSet, descriptor, 1, hits);
    }
    return hits.length < 2 ? hits : withHighestWeight(hits);
  };
}

function matchOne(ruleSet: RuleSet, descriptor: Descriptor, start: number, hits: Hit[]): void {
  if (descriptor.isSet) matchSets(ruleSet.sets, descriptor, start, hits);
  else matchTree(ruleSet.tree, descriptor, start, hits);
}

function matchTree(tree: Level, descriptor: Descriptor, start: number, hits: Hit[]): void {
  const { entries } = descriptor;
  let level = tree;
  let rule: Rule | undefined;
  let values: HitValues;
  for (let i = start; i < entries.length; i++) {
    const entry = entries[i]!;
    const branch = level.get(entry.key);
    if (!branch) return;
    let node = branch.byValue.size > 0 ? branch.byValue.get(entry.value) : undefined;
    if (!node) {
      node = branch.any;
      if (!node) return;
      values = withValue(values, entry);
    }
    ({ rule, children: level } = node);
  }
  if (rule) addHit(hits, rule, values, descriptor);
}

function withHighestWeight(hits: Hit[]): Hit[] {
  let highest = 0;
  for (const { group: rule } of hits) if (!rule.isShadow && rule.weight > highest) highest = rule.weight;
  if (highest === 0) return hits;
  return hits.filter(({ group: rule }) => rule.isSet || rule.alwaysApply || rule.weight >= highest);
}
