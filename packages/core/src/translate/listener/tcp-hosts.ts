import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import { clusterName, type ResourceRef } from '../../resource/resource.ts';
import type { ConnectionMatch, ListenerPart, TcpDestination, TlsConfiguration } from '../../contract/snapshot.ts';
import type { ConnectionMatcher, TcpGateway, TcpHost } from '../../schema/kind/gateway.ts';
import type { UpstreamGroupSpec } from '../../schema/kind/upstream-group.ts';
import type { SslConfig } from '../../schema/listener/ssl-config.ts';
import type { DestinationSpec, WeightedDestination } from '../../schema/route/destination.ts';
import { Reader, type TranslationInput } from '../input.ts';
import { dotted } from '../names.ts';
import { upstreamOf } from '../reference/destination-upstream.ts';
import { faultOf } from '../reference/missing.ts';
import { tcpHostMessage } from '../status/messages.ts';
import type { Report } from '../status/report.ts';
import { effectiveConfig } from '../tls/listener-tls.ts';
import { sourceProblem } from '../tls/tls-source.ts';
import { digestText, freezeDeep } from '../snapshot/content.ts';
import { matchOf } from './connection-match.ts';

/** A TCP gateway, and the connections that it serves. */
export interface TcpPlan {
  readonly tcp: TcpGateway;
  readonly matcher: ConnectionMatcher;
  /** Path of the gateway. */
  readonly at: FieldPath;
  /** Default namespace of references. */
  readonly namespace: string;
  readonly report: Report;
  /** Name of the listener. */
  readonly listener: string;
  /** Returns the previous version of a part. */
  readonly knownOf: (name: string) => ListenerPart | undefined;
}

const NO_OPTIONS = Object.freeze({});

/**
 * Returns one part for each TCP host. TLS is terminated if the host, or the matcher, has a certificate; otherwise server names choose the host of
 * connections whose TLS passes through. A host without a usable certificate keeps its previous version, or closes its connections.
 */
export function tcpParts(plan: TcpPlan, input: TranslationInput): readonly ListenerPart[] {
  return (plan.tcp.tcpHosts ?? []).flatMap((host, i): readonly ListenerPart[] | ListenerPart => {
    const at = [...plan.at, 'tcpHosts', i];
    const label = host.name || `<unnamed-${i}>`;
    const forwardsServerName = host.destination?.forwardSniClusterName !== undefined;
    const match = hostMatch(host, plan.matcher, forwardsServerName);
    const name = `${plan.listener}-tcp-${digestText(JSON.stringify(match)).slice(0, 8)}`;
    const sslConfigurations = certificatesOf(host, { ...plan, at, label }, input);
    if (!sslConfigurations) return plan.knownOf(name) ?? closedPart(name, match);
    const destinations = destinationsOf(host, { ...plan, at: [...at, 'destination'], label }, input);
    const options = plan.tcp.options ?? NO_OPTIONS;
    const tcp = { name: host.name ?? '', destinations, forwardsServerName, sslConfigurations, options };
    return [freezeDeep({ name, match, tcp })];
  });
}

/** Returns a part that closes its connections, so that no other part serves them instead. */
export function closedPart(name: string, match: ConnectionMatch): ListenerPart {
  const tcp = { name: '', destinations: [], forwardsServerName: false, sslConfigurations: [], options: NO_OPTIONS };
  return freezeDeep({ name, match, tcp });
}

function hostMatch({ sslConfig }: TcpHost, matcher: ConnectionMatcher, forwardsServerName: boolean): ConnectionMatch {
  const own = sslConfig?.sniDomains ?? [];
  const names = own.length > 0 ? own : (matcher.sslConfig?.sniDomains ?? []);
  const match = matchOf(matcher, names);
  return sslConfig || forwardsServerName ? { ...match, tls: true } : match;
}

interface HostContext extends Pick<TcpPlan, 'matcher' | 'namespace' | 'report' | 'at'> {
  readonly label: string;
}

/** Returns the certificate of a host, none if TLS is not terminated; `undefined` if it cannot be used. */
function certificatesOf(
  { sslConfig }: TcpHost,
  { matcher, namespace, report, at, label }: HostContext,
  input: TranslationInput,
): readonly TlsConfiguration[] | undefined {
  const written = [sslConfig, matcher.sslConfig].find((one) => one && hasSource(one));
  if (!written) return [];
  const config = input.derived.of(effectiveConfig, written, namespace, input.settings.oneWayTls);
  const problem = sourceProblem(config, input);
  if (problem) {
    const message = tcpHostMessage('SSLConfigError', problem.message, label);
    report.error({ ...problem, message }, written === sslConfig ? [...at, 'sslConfig'] : at);
    return undefined;
  }
  return [{ sslConfig: config, sniDomains: [] }];
}

const hasSource = ({ secretRef, sslFiles, sds }: SslConfig): boolean => Boolean(secretRef ?? sslFiles ?? sds);

function destinationsOf(
  { destination = {} }: TcpHost,
  context: HostContext,
  input: TranslationInput,
): readonly TcpDestination[] {
  const { namespace, report, at, label } = context;
  const reader = new Reader(input);
  const warn = (fault: FieldProblem, path: FieldPath): string => {
    const message = tcpHostMessage('InvalidDestinationWarning', fault.message, label);
    report.warn({ ...fault, message }, path);
    return fault.message;
  };
  const share = (one: WeightedDestination, from: string, path: FieldPath): TcpDestination => {
    const written = one.destination ?? {};
    const { subset } = written;
    const ref = upstreamOf(written, from);
    const { fault } = reader.destination(ref);
    const labels = subset?.values;
    return {
      upstream: clusterName(ref),
      weight: one.weight ?? 0,
      ...(labels && Object.keys(labels).length > 0 && { subset: labels }),
      ...(fault && { broken: warn(fault, path) }),
    };
  };
  if (destination.single)
    return [
      share({ destination: destination.single, weight: 1 }, namespace, pathOf(destination.single, [...at, 'single'])),
    ];
  if (destination.multi) {
    const list = destination.multi.destinations ?? [];
    const pathAt = (i: number): FieldPath => [...at, 'multi', 'destinations', i, 'destination'];
    return list.map((one, i) => share(one, namespace, pathOf(one.destination ?? {}, pathAt(i))));
  }
  if (!destination.upstreamGroup) return [];
  const { name = '', namespace: own } = destination.upstreamGroup;
  const ref: ResourceRef = { name, namespace: own || namespace };
  const found = reader.find<UpstreamGroupSpec>('UpstreamGroup', ref);
  const path = [...at, 'upstreamGroup'];
  const text = `UpstreamGroup ${dotted(ref)}`;
  if (found.state === 'usable')
    return (found.resource.spec.destinations ?? []).map((one) => share(one, ref.namespace, path));
  const fault =
    found.state === 'missing'
      ? reader.missing(`${text} not found`, 'UpstreamGroup', ref)
      : faultOf(`${text} is rejected: ${found.cause}`);
  return [{ upstream: clusterName(ref), weight: 1, broken: warn(fault, path) }];
}

/** Returns the path of the upstream of a destination. */
function pathOf({ upstream, kube }: DestinationSpec, at: FieldPath): FieldPath {
  return upstream || !kube ? [...at, 'upstream'] : [...at, 'kube'];
}
