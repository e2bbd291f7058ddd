import { parseDuration } from '../syntax/duration.ts';
import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type { HealthCheck } from '../schema/upstream/health.ts';
import type { StaticHost, StaticUpstream } from '../schema/upstream/upstream-types.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import { each, within } from './check.ts';

const TYPES = ['static', 'kube', 'consul', 'aws', 'awsEc2', 'azure', 'pipe', 'gcp', 'ai'] as const;
const CHECKERS = ['httpHealthCheck', 'tcpHealthCheck', 'grpcHealthCheck', 'customHealthCheck'] as const;

/** Returns problems of an Upstream. Its status is a Warning: the reference only removes such an upstream. */
export function checkUpstream(spec: UpstreamSpec, at: FieldPath): FieldProblem[] {
  const findings = [
    ...within(spec.static, [...at, 'static'], checkStatic),
    ...each(spec.healthChecks, [...at, 'healthChecks'], checkHealthCheck),
    ...checkDns(spec, at),
  ];
  if (!TYPES.some((type) => spec[type] !== undefined)) {
    findings.push({ code: 'INVALID_UPSTREAM', path: at, message: 'the upstream has no type', hint: TYPES.join(', ') });
  }
  if (spec.outlierDetection && spec.outlierDetection.interval === undefined) {
    const message = 'outlierDetection needs an interval';
    findings.push({ code: 'INVALID_OUTLIER_DETECTION', path: [...at, 'outlierDetection'], message });
  }
  return findings;
}

function checkStatic({ hosts }: StaticUpstream, at: FieldPath): FieldProblem[] {
  if (!hosts?.length) return [{ code: 'INVALID_HOST', path: at, message: 'a static upstream needs at least one host' }];
  return each(hosts, [...at, 'hosts'], checkHost);
}

function checkHost({ addr, port, loadBalancingWeight }: StaticHost, at: FieldPath): FieldProblem[] {
  const missing = [!addr && 'addr', !port && 'port'].filter((name) => name !== false);
  const findings = missing.map((name): FieldProblem => ({
    code: 'INVALID_HOST',
    path: at,
    message: `the host has no ${name}`,
  }));
  if (addr && /[\s/?#@]/.test(addr)) {
    findings.push({
      code: 'INVALID_HOST',
      path: [...at, 'addr'],
      message: `'${addr}' is neither an address nor a name`,
    });
  }
  if (loadBalancingWeight !== undefined && loadBalancingWeight < 1) {
    const message = 'loadBalancingWeight must be at least 1';
    findings.push({ code: 'INVALID_HOST', path: [...at, 'loadBalancingWeight'], message });
  }
  return findings;
}

function checkHealthCheck(check: HealthCheck, at: FieldPath): FieldProblem[] {
  const missing: string[] = (['healthyThreshold', 'unhealthyThreshold', 'timeout', 'interval'] as const).filter(
    (name) => check[name] === undefined,
  );
  if (!CHECKERS.some((checker) => check[checker])) missing.push('one checker');
  const findings = missing.map((name): FieldProblem => ({
    code: 'INVALID_HEALTH_CHECK',
    path: at,
    message: `a health check needs ${name}`,
  }));
  if (check.httpHealthCheck?.method === 'CONNECT') {
    const path = [...at, 'httpHealthCheck', 'method'];
    findings.push({ code: 'INVALID_HEALTH_CHECK', path, message: 'a health check cannot use CONNECT' });
  }
  return findings;
}

/** DNS settings require a host with a DNS name; rates below the minimum are ignored. */
function checkDns({ dnsRefreshRate, respectDnsTtl, static: hosts }: UpstreamSpec, at: FieldPath): FieldProblem[] {
  const rate = dnsRefreshRate !== undefined && parseDuration(dnsRefreshRate) >= 1;
  if ((!rate && !respectDnsTtl) || hosts?.hosts?.some(({ addr = '' }) => isName(addr))) return [];
  const path = [...at, rate ? 'dnsRefreshRate' : 'respectDnsTtl'];
  return [{ code: 'INVALID_UPSTREAM', path, message: 'no host of the upstream has a DNS name' }];
}

function isName(addr: string): boolean {
  return !/^[\d.]+$/.test(addr) && !addr.includes(':');
}
