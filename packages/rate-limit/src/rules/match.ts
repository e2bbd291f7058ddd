import { GENERIC_KEY, type Descriptor } from '../descriptor/descriptor.ts';
import { hitOf, withValue, type Hit, type HitValues } from './hit.ts';
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
    let hits: Hit[] | undefined;
    for (let i = 0; i < descriptors.length; i++) {
      const descriptor = descriptors[i]!;
      for (let j = 0; j < plain.length; j++) hits = matchOne(plain[j]!, descriptor, 0, hits);
      const ruleSet = byResource.size > 0 ? ruleSetOf(descriptor) : undefined;
      if (ruleSet) hits = matchOne(ruleSet, descriptor, 1, hits);
    }
    if (!hits) return [];
    return hits.length === 1 ? hits : withHighestWeight(hits);
  };

  function ruleSetOf({ entries }: Descriptor): RuleSet | undefined {
    const first = entries[0];
    return first?.key === GENERIC_KEY ? byResource.get(first.value) : undefined;
  }
}

/** Returns the hits with those of one descriptor; an array with one hit needs far less memory than one that grows. */
function matchOne(ruleSet: RuleSet, descriptor: Descriptor, start: number, hits: Hit[] | undefined): Hit[] | undefined {
  if (descriptor.isSet) {
    const all = hits ?? [];
    matchSets(ruleSet.sets, descriptor, start, all);
    return all.length === 0 ? undefined : all;
  }
  const hit = matchTree(ruleSet.tree, descriptor, start);
  if (!hit) return hits;
  if (!hits) return [hit];
  hits.push(hit);
  return hits;
}

function matchTree(tree: Level, descriptor: Descriptor, start: number): Hit | undefined {
  const { entries } = descriptor;
  let level = tree;
  let rule: Rule | undefined;
  let values: HitValues;
  for (let i = start; i < entries.length; i++) {
    const entry = entries[i]!;
    const branch = level.get(entry.key);
    if (!branch) return undefined;
    let node = branch.byValue.size > 0 ? branch.byValue.get(entry.value) : undefined;
    if (!node) {
      node = branch.any;
      if (!node) return undefined;
      values = withValue(values, entry);
    }
    rule = node.rule;
    level = node.children;
  }
  return rule && hitOf(rule, values, descriptor);
}

/** Returns the hits of a request that count: those of the highest weight, and those that weights do not concern. */
export function withHighestWeight(hits: Hit[]): Hit[] {
  let highest = 0;
  for (const { group: rule } of hits) if (!rule.isShadow && rule.weight > highest) highest = rule.weight;
  if (highest === 0) return hits;
  return hits.filter(({ group: rule }) => rule.isSet || rule.alwaysApply || rule.weight >= highest);
}
