import type { FieldPath } from '../../resource/problem.ts';
import { identityOfKey, keyOf, type Resource } from '../../resource/resource.ts';
import type { StoredResource } from '../../resource/stored.ts';
import type { GatewaySpec, MatchableHttpGatewaySpec, MatchableTcpGatewaySpec } from '../../schema/kind/gateway.ts';
import { expressionProblem, matchesSelector } from '../../syntax/label-expression.ts';
import type { TranslationInput } from '../input.ts';
import { dotted } from '../names.ts';
import { causeOf } from '../reference/find.ts';
import { missingFault } from '../reference/missing.ts';
import type { Report } from '../status/report.ts';
import type { InnerGateway } from './inner-gateway.ts';
import type { UsedGateway } from './gateways.ts';

type Hybrid = NonNullable<GatewaySpec['hybridGateway']>;
type DelegatedHttp = NonNullable<Hybrid['delegatedHttpGateways']>;
type Delegation = NonNullable<Hybrid['delegatedTcpGateways']>;
type MatchableKind = 'MatchableHttpGateway' | 'MatchableTcpGateway';

/** Returns the gateways to which a hybrid gateway delegates, sorted by kind and name. Warns if it selects none. */
export function delegatedGateways(
  gateway: UsedGateway,
  report: Report,
  input: TranslationInput,
): readonly InnerGateway[] {
  const { delegatedHttpGateways: http, delegatedTcpGateways: tcp } = gateway.spec.hybridGateway ?? {};
  const at = (field: string): FieldPath => ['spec', 'hybridGateway', field];
  const context = { gateway, report, input };
  const selected = [
    ...(http
      ? select('MatchableHttpGateway', http, { ...context, at: at('delegatedHttpGateways') }).flatMap((stored) =>
          httpOf(stored, http),
        )
      : []),
    ...(tcp
      ? select('MatchableTcpGateway', tcp, { ...context, at: at('delegatedTcpGateways') }).map((stored) =>
          tcpOf(stored),
        )
      : []),
  ];
  if (selected.length === 0) report.warn('the hybrid gateway does not select any gateway', ['spec', 'hybridGateway']);
  return selected;
}

interface SelectContext {
  readonly gateway: UsedGateway;
  readonly report: Report;
  readonly input: TranslationInput;
  readonly at: FieldPath;
}

function select(
  kind: MatchableKind,
  { ref, selector }: Delegation,
  { gateway, report, input, at }: SelectContext,
): readonly StoredResource[] {
  const { namespace } = gateway.ref;
  if (ref?.name) {
    const target = { name: ref.name, namespace: ref.namespace || namespace };
    const stored = input.stored.get(keyOf(kind, target));
    if (stored?.resource) return [stored];
    const text = `${kind} ${dotted(target)}`;
    if (stored) report.warn(`${text} is rejected: ${causeOf(stored)}`, [...at, 'ref']);
    else report.error(missingFault(`${text} not found`, kind, target, input), [...at, 'ref']);
    return [];
  }
  if (!selector) return [];
  const { labels = {}, namespaces = [], expressions = [] } = selector;
  const problem = expressions.map(expressionProblem).find((one) => one !== undefined);
  if (problem) report.error(problem, [...at, 'selector', 'expressions']);
  if (problem) return [];
  const searched = namespaces.length === 0 ? [namespace] : namespaces;
  return input.list(kind).filter(({ resource }) => {
    if (!resource) return false;
    const { metadata } = resource;
    const own = metadata.labels ?? {};
    if (!searched.includes('*') && !searched.includes(metadata.namespace)) return false;
    return matchesSelector(own, { matchLabels: labels, matchExpressions: expressions });
  });
}

/** A parent selects a child only if both have TLS, or neither. */
function httpOf({ key, resource }: StoredResource, parent: DelegatedHttp): readonly InnerGateway[] {
  const { matcher = {}, httpGateway = {} } = (resource as Resource<MatchableHttpGatewaySpec>).spec;
  if ((matcher.sslConfig === undefined) !== (parent.sslConfig === undefined)) return [];
  const merge = <T extends object>(child: T | undefined, over: T | undefined): T | undefined => {
    if (!over || !child) return child ?? over;
    return parent.preventChildOverrides ? { ...child, ...over } : { ...over, ...child };
  };
  const sslConfig = merge(matcher.sslConfig, parent.sslConfig);
  const options = httpGateway.options;
  const httpConnectionManagerSettings = merge(
    options?.httpConnectionManagerSettings,
    parent.httpConnectionManagerSettings,
  );
  return [
    {
      owner: key,
      at: ['spec', 'httpGateway'],
      namespace: identityOfKey(key).namespace,
      matcher: { ...matcher, ...(sslConfig && { sslConfig }) },
      http: {
        ...httpGateway,
        ...(httpConnectionManagerSettings && { options: { ...options, httpConnectionManagerSettings } }),
      },
    },
  ];
}

function tcpOf({ key, resource }: StoredResource): InnerGateway {
  const { matcher = {}, tcpGateway = {} } = (resource as Resource<MatchableTcpGatewaySpec>).spec;
  const { namespace } = identityOfKey(key);
  return { owner: key, at: ['spec', 'tcpGateway'], namespace, matcher, tcp: tcpGateway };
}
