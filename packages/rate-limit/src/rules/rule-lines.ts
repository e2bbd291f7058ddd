import type { Rule, RuleSet } from './rule.ts';

/**
 * Returns the lines of `/rlconfig`: one per rule with a limit, in the order of the source. Settings that only this gateway has follow if
 * they are in use.
 *
 * @example
 * ruleLines(ruleSet); // ['custom.generic_key_a: unit=MINUTE requests_per_unit=4 weight=0 always_apply=false']
 */
export function ruleLines({ rules }: RuleSet): string[] {
  return rules.flatMap(lineOf);
}

function lineOf({ name, limit, weight, alwaysApply, isShadow }: Rule): string[] {
  if (!limit) return [];
  const { unit, requests, algorithm, burst } = limit;
  const settings = [`unit=${unit}`, `requests_per_unit=${requests}`, `weight=${weight}`, `always_apply=${alwaysApply}`];
  if (algorithm !== 'FIXED_WINDOW') settings.push(`algorithm=${algorithm}`);
  if (algorithm === 'TOKEN_BUCKET') settings.push(`burst=${burst}`);
  if (isShadow) settings.push('shadow=true');
  // A value may contain a line break.
  return [`${name.replaceAll(/[\r\n]/g, ' ')}: ${settings.join(' ')}`];
}
