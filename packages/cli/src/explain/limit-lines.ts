import { printable } from '@edge-gateway/core';
import type {
  ExplainedDescriptor,
  ExplainedLimits,
  ExplainedLocalLimits,
  ExplainedRule,
} from '@edge-gateway/rate-limit';
import type { Colors } from '../output/terminal.ts';
import type { LimitsExplanation } from './limits.ts';
import type { RejectedResource } from './rejected-resources.ts';

/** Explained limits, and the rejected resources behind them. */
export interface ShownLimits extends LimitsExplanation {
  readonly rejected?: readonly RejectedResource[];
}

const TITLES = { rateLimitEarly: 'Before authentication', rateLimit: 'After authentication' } as const;

/** Renders explained limits as text: local limits, the stages in order, rejected resources. */
export function renderLimits(limits: ShownLimits, colors: Colors): string {
  const { request, virtualHost, route, local, stages, endsBefore, rejected = [] } = limits;
  const rejectedLines = rejected.map(rejectedLine);
  // Without a route, they are the likely cause.
  const isCause = route === undefined;
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Rejected resources', isCause ? rejectedLines : []],
    ['Virtual host', [virtualHost ?? 'no virtual host has this domain']],
    ['Route', virtualHost === undefined ? [] : [route ?? 'no route matches']],
    ['Local limits (counted in each proxy instance)', local ? localLines(local) : []],
    ...stages.map((stage) => [TITLES[stage.stage], stageLines(stage, colors)] as const),
    [TITLES.rateLimit, endsBefore === undefined ? [] : [`not reached: the response is ${endsBefore}`]],
    ['Rejected resources', isCause ? [] : rejectedLines],
  ];
  const isUnlimited = route !== undefined && !local && stages.length === 0 && endsBefore === undefined;
  const shown = [...sections, ['Result', isUnlimited ? ['the request is not limited'] : []] as const];
  const text = shown.flatMap(([title, lines]) =>
    lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${printable(line)}`)],
  );
  return [colors.bold(printable(`${request.method} ${request.host}${request.path}`)), ...text].join('\n');
}

function localLines({ http, network }: ExplainedLocalLimits): string[] {
  return [
    ...(network ? [`connections: ${bucketText(network)}`] : []),
    ...(http
      ? [`requests: ${bucketText(http.bucket)}, of the ${http.level}${http.perConnection ? ', per connection' : ''}`]
      : []),
  ];
}

function bucketText(bucket: NonNullable<ExplainedLocalLimits['network']>): string {
  const { maxTokens, tokensPerFill = 1, fillInterval = '1s' } = bucket;
  return `${maxTokens} tokens, filled continuously at ${tokensPerFill} per ${fillInterval}`;
}

function stageLines({ descriptors, rules, concurrency, failure }: ExplainedLimits, colors: Colors): string[] {
  if (failure !== undefined) return [`${colors.red('✗')} invalid limits, so the response is 500: ${failure}`];
  return [
    ...descriptors.map((each) => descriptorLine(each, colors)),
    ...(rules.length === 0 && descriptors.length > 0 ? ['no rule matches, so the request is not limited here'] : []),
    ...rules.flatMap((each) => ruleLines(each, colors)),
    ...concurrency.map(({ counter, maxInFlight }) => `at most ${maxInFlight} requests in flight, counter ${counter}`),
  ];
}

function descriptorLine(descriptor: ExplainedDescriptor, colors: Colors): string {
  const { domain, resource, isSet, entries, dropped, cost, limit } = descriptor;
  const from = resource === undefined ? domain : `RateLimitConfig ${resource}`;
  const kind = isSet ? 'set' : 'descriptor';
  if (dropped !== undefined) return `${colors.red('✗')} ${kind} of ${from} is dropped: ${dropped}`;
  const shown = entries.map(({ key, value }) => `${key}=${value}`).join(', ');
  const more = `${cost === undefined ? '' : `, cost ${cost}`}${limit ? `, limit of metadata ${limitText(limit)}` : ''}`;
  return `${colors.green('✓')} ${kind} of ${from}: ${shown || '(empty)'}${more}`;
}

function ruleLines(rule: ExplainedRule, colors: Colors): string[] {
  const { rule: name, limit, weight, alwaysApply, isShadow, applies, cost, counter } = rule;
  const settings = [
    ...(weight > 0 ? [`weight ${weight}`] : []),
    ...(alwaysApply ? ['always applies'] : []),
    ...(isShadow ? ['only counts (shadow)'] : []),
    ...(cost === 1 ? [] : [`cost ${cost}`]),
  ];
  const text = [`rule ${name}: ${limitText(limit)}`, ...settings].join(', ');
  if (!applies) return [`${colors.red('✗')} ${text}: ignored, a rule with a higher weight applies`];
  return [`${colors.green('✓')} ${text}`, `    counter ${counter}`];
}

function limitText({ requests, unit, algorithm, burst }: ExplainedRule['limit']): string {
  const kinds = { FIXED_WINDOW: '', SLIDING_WINDOW: ' (sliding window)', TOKEN_BUCKET: ` (token bucket of ${burst})` };
  return `${requests} per ${unit}${kinds[algorithm]}`;
}

function rejectedLine({ kind, namespace, name, serves, reason }: RejectedResource): string {
  return `${kind} ${namespace}/${name}${serves ? ': its last good version is served' : ''}: ${reason}`;
}
