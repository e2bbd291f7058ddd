import { parseDuration } from '../../syntax/duration.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { RouteOptions } from '../../schema/route/route-options.ts';
import type { Faults, Shadowing, Upgrade } from '../../schema/route/small-options.ts';
import { checkCors } from './cors.ts';
import { within } from '../check.ts';
import { checkHeaderManipulation } from './header-manipulation.ts';
import { hostProblem } from './host-problem.ts';
import { checkPath } from './path.ts';
import { checkRetries } from './retries.ts';
import { checkTransformations } from '../transformation/transformations.ts';

/** Minimum injected delay, in milliseconds. */
const MIN_DELAY_MS = 1000;

/** Returns problems of the options of one route. */
export function checkRouteOptions(options: RouteOptions, at: FieldPath): FieldProblem[] {
  return [
    ...checkPath(options.prefixRewrite || undefined, [...at, 'prefixRewrite']),
    ...checkRewrites(options, at),
    ...within(options.headerManipulation, [...at, 'headerManipulation'], checkHeaderManipulation),
    ...checkTransformations(options, at),
    ...within(options.cors, [...at, 'cors'], checkCors),
    ...within(options.retries, [...at, 'retries'], checkRetries),
    ...within(options.faults, [...at, 'faults'], checkFaults),
    ...within(options.shadowing, [...at, 'shadowing'], checkShadowing),
    ...within(options.upgrades, [...at, 'upgrades'], checkUpgrades),
  ];
}

function checkRewrites(options: RouteOptions, at: FieldPath): FieldProblem[] {
  const { prefixRewrite, regexRewrite, hostRewrite, hostRewriteHeader } = options;
  const findings: FieldProblem[] = [];
  if (prefixRewrite && regexRewrite) {
    const message = 'prefixRewrite and regexRewrite cannot be combined';
    findings.push({ code: 'INVALID_REWRITE', path: [...at, 'regexRewrite'], message });
  }
  if (regexRewrite && !regexRewrite.pattern?.regex) {
    findings.push({ code: 'INVALID_REWRITE', path: [...at, 'regexRewrite'], message: 'regexRewrite needs a pattern' });
  }
  const message = hostRewrite ? hostProblem(hostRewrite) : undefined;
  if (message) findings.push({ code: 'INVALID_REWRITE', path: [...at, 'hostRewrite'], message });
  if (hostRewriteHeader === '') {
    const message = 'hostRewriteHeader names no header';
    findings.push({ code: 'INVALID_REWRITE', path: [...at, 'hostRewriteHeader'], message });
  }
  return findings;
}

function checkFaults({ abort, delay }: Faults, at: FieldPath): FieldProblem[] {
  const findings: FieldProblem[] = [];
  const status = abort?.httpStatus;
  if (abort && (status === undefined || status < 200 || status > 599)) {
    const message = 'the status of an abort must be between 200 and 599';
    findings.push({ code: 'INVALID_FAULT', path: [...at, 'abort'], message });
  }
  if (delay && (delay.fixedDelay === undefined || parseDuration(delay.fixedDelay) < MIN_DELAY_MS)) {
    findings.push({ code: 'INVALID_FAULT', path: [...at, 'delay'], message: 'a delay must be at least 1s' });
  }
  return findings;
}

function checkShadowing({ upstream }: Shadowing, at: FieldPath): FieldProblem[] {
  return upstream?.name
    ? []
    : [{ code: 'INVALID_SHADOWING', path: at, message: 'shadowing needs an upstream', hint: 'upstream' }];
}

function checkUpgrades(upgrades: readonly Upgrade[], at: FieldPath): FieldProblem[] {
  const seen = new Set<string>();
  return upgrades.flatMap((upgrade, i): FieldProblem[] => {
    const [type] = Object.keys(upgrade);
    const again = type !== undefined && seen.has(type);
    if (type !== undefined) seen.add(type);
    if (type !== undefined && !again) return [];
    const message = again ? `the upgrade ${type} is listed twice` : 'the upgrade has no protocol';
    return [{ code: 'INVALID_UPGRADE', path: [...at, i], message }];
  });
}
