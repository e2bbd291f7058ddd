import type { Kind } from '@edge-gateway/core';
import type { StatusObject } from '../objects.ts';
import { reportsOf, type Report } from '../status.ts';
import type { Check } from './check.ts';

/** How the states of one kind are checked. */
export interface StatusRule {
  readonly kind: Kind;
  readonly noun: string;
  /** Only a rejected one is a problem. */
  readonly onlyRejected?: boolean;
  /** One without a status is none. */
  readonly mayLackStatus?: boolean;
  /** The reason stands on a line of its own. */
  readonly reasonBelow?: boolean;
}

/** The problems that the statuses of some resources tell. */
export function statusProblems(objects: readonly StatusObject[], rule: StatusRule): string[] {
  return objects
    .filter(({ kind }) => kind === rule.kind)
    .flatMap((object) => {
      const reports = reportsOf(object).filter(({ state }) => state !== 'Pending');
      if (reports.length > 0) return reports.flatMap((report) => reportProblem(object, report, rule));
      const { namespace, name } = object.metadata;
      return rule.onlyRejected || rule.mayLackStatus ? [] : [`Found ${rule.noun} with no status: ${namespace} ${name}`];
    });
}

function reportProblem(object: StatusObject, report: Report, rule: StatusRule): string[] {
  const who = `'${report.reportedBy}': ${object.metadata.namespace} ${object.metadata.name}`;
  const why = rule.reasonBelow ? `\nReason: ${report.reason}` : ` (Reason: ${report.reason})`;
  if (report.state === 'Rejected') return [`Found rejected ${rule.noun} by ${who}${why}`];
  const isProblem = report.state === 'Warning' && !rule.onlyRejected;
  return isProblem ? [`Found ${rule.noun} with warnings by ${who}${why}`] : [];
}

const statusCheck = (name: string, excludedBy: string, rule: StatusRule): Check => ({
  name,
  excludedBy,
  kind: rule.kind,
  run: ({ objects }) => statusProblems(objects, rule),
});

export const upstreams = statusCheck('Upstreams', 'upstreams', { kind: 'Upstream', noun: 'upstream' });
export const upstreamGroups = statusCheck('UpstreamGroups', 'upstreamgroup', {
  kind: 'UpstreamGroup',
  noun: 'upstream group',
});
export const authConfigs = statusCheck('AuthConfigs', 'auth-configs', { kind: 'AuthConfig', noun: 'auth config' });
export const rateLimitConfigs = statusCheck('RateLimitConfigs', 'rate-limit-configs', {
  kind: 'RateLimitConfig',
  noun: 'rate limit config',
  onlyRejected: true,
});
export const virtualHostOptions = statusCheck('VirtualHostOptions', 'virtual-host-options', {
  kind: 'VirtualHostOption',
  noun: 'virtual host option',
});
export const routeOptions = statusCheck('RouteOptions', 'route-options', { kind: 'RouteOption', noun: 'route option' });
export const secrets = statusCheck('Secrets', 'secrets', { kind: 'Secret', noun: 'secret', mayLackStatus: true });
export const gateways = statusCheck('Gateways', 'gateways', { kind: 'Gateway', noun: 'gateway', reasonBelow: true });
/** Only shown when there are some. */
export const graphqlApis = statusCheck('GraphQLApis', 'graphqlapis', { kind: 'GraphQLApi', noun: 'GraphQL API' });
