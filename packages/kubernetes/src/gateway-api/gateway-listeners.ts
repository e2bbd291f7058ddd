import { coverageProblem, datesProblems, secretCertificates, type SecretValue } from '@edge-gateway/core';
import { condition, type NewCondition } from './conditions.ts';
import {
  GATEWAY_GROUP,
  type CertificateState,
  type GatewayApiInput,
  type GatewayObject,
  type GatewaySpec,
  type ListenerSpec,
  type ReferenceGrantSpec,
  type RouteKind,
} from './gateway-objects.ts';
import { isGranted } from './reference-grants.ts';

const ROUTE_KINDS: readonly RouteKind[] = ['HTTPRoute', 'GRPCRoute'];
const PROTOCOLS: ReadonlySet<string> = new Set(['HTTP', 'HTTPS']);

/** A listener with what is known about it before routes are attached. */
export interface CheckedListener {
  readonly spec: ListenerSpec;
  readonly gateway: GatewayObject<GatewaySpec>;
  readonly isTls: boolean;
  /** Kinds of routes that may be attached. */
  readonly kinds: readonly RouteKind[];
  /** True if it can be served. */
  readonly isServed: boolean;
  readonly certificate?: {
    readonly ref: { readonly name: string; readonly namespace: string };
    readonly secret: SecretValue;
  };
  /** Without `Programmed`, which depends on the translation. */
  readonly conditions: readonly NewCondition[];
}

interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** Checks the listeners of a Gateway: protocols, conflicts, kinds of routes, certificates. */
export function checkListeners(
  gateway: GatewayObject<GatewaySpec>,
  input: GatewayApiInput,
  grants: readonly GatewayObject<ReferenceGrantSpec>[],
): readonly CheckedListener[] {
  const listeners = gateway.spec?.listeners ?? [];
  const { generation = 0 } = gateway.metadata;
  return listeners.map((spec) => {
    const unsupported = PROTOCOLS.has(spec.protocol)
      ? undefined
      : { reason: 'UnsupportedProtocol', message: `protocol ${spec.protocol} is not supported; HTTP and HTTPS are` };
    const conflict = conflictOf(spec, listeners);
    const { kinds, problem: kindProblem } = kindsOf(spec);
    const tls = spec.protocol === 'HTTPS' ? certificateOf(spec, gateway, { input, grants }) : undefined;
    const tlsProblem = tls && 'reason' in tls ? tls : undefined;
    const refProblem = tlsProblem ?? kindProblem;
    const isServed = !unsupported && !conflict && !tlsProblem && kinds.length > 0;
    return {
      spec,
      gateway,
      isTls: spec.protocol === 'HTTPS',
      kinds: unsupported ? [] : kinds,
      isServed,
      ...(tls && 'secret' in tls && { certificate: tls }),
      conditions: [
        condition('Accepted', generation, unsupported ?? conflict),
        conflictCondition(conflict, generation),
        resolvedRefs(generation, refProblem ?? (tls && 'secret' in tls ? warningOf(spec, tls.secret, input.now) : '')),
      ],
    };
  });
}

/** A listener whose certificate clients reject, now or soon, is valid all the same: its condition is true, with a warning. */
function resolvedRefs(generation: number, found: Problem | string): NewCondition {
  if (typeof found !== 'string') return condition('ResolvedRefs', generation, found);
  return { ...condition('ResolvedRefs', generation, undefined), message: found };
}

function warningOf({ hostname }: ListenerSpec, secret: SecretValue, now: number): string {
  const certificates = secretCertificates(secret);
  const coverage = coverageProblem(certificates, hostname ? [hostname.toLowerCase()] : []);
  const problems = [...datesProblems(certificates, now), ...(coverage === undefined ? [] : [coverage])];
  return problems.length > 0 ? `warning: ${problems.join('; ')}` : '';
}

function conflictCondition(conflict: Problem | undefined, observedGeneration: number): NewCondition {
  if (conflict) return { type: 'Conflicted', status: 'True', ...conflict, observedGeneration };
  return { type: 'Conflicted', status: 'False', reason: 'NoConflicts', message: '', observedGeneration };
}

/** Returns why a listener conflicts with others of its Gateway; all listeners of a conflict have it. */
function conflictOf(spec: ListenerSpec, all: readonly ListenerSpec[]): Problem | undefined {
  const others = all.filter((other) => other !== spec && other.port === spec.port);
  const protocol = others.find((other) => other.protocol !== spec.protocol);
  if (protocol) {
    const message = `listener ${protocol.name} has port ${spec.port} with protocol ${protocol.protocol}`;
    return { reason: 'ProtocolConflict', message };
  }
  const same = others.find((other) => (other.hostname ?? '').toLowerCase() === (spec.hostname ?? '').toLowerCase());
  if (!same) return undefined;
  return { reason: 'HostnameConflict', message: `listener ${same.name} has the same port and hostname` };
}

function kindsOf({ allowedRoutes }: ListenerSpec): {
  readonly kinds: readonly RouteKind[];
  readonly problem?: Problem;
} {
  const written = allowedRoutes?.kinds ?? [];
  if (written.length === 0) return { kinds: ROUTE_KINDS };
  const kinds = ROUTE_KINDS.filter((kind) =>
    written.some(({ group = GATEWAY_GROUP, kind: name }) => group === GATEWAY_GROUP && name === kind),
  );
  const invalid = written.find(
    ({ group = GATEWAY_GROUP, kind }) => group !== GATEWAY_GROUP || !ROUTE_KINDS.includes(kind as RouteKind),
  );
  if (!invalid) return { kinds };
  const message = `routes of kind ${invalid.kind} are not supported; ${ROUTE_KINDS.join(' and ')} are`;
  return { kinds, problem: { reason: 'InvalidRouteKinds', message } };
}

interface CertificateContext {
  readonly input: GatewayApiInput;
  readonly grants: readonly GatewayObject<ReferenceGrantSpec>[];
}

/** Returns the first certificate; all of them must be usable. */
function certificateOf(
  { tls }: ListenerSpec,
  { metadata }: GatewayObject<GatewaySpec>,
  { input, grants }: CertificateContext,
): NonNullable<CheckedListener['certificate']> | Problem {
  const invalid = (message: string): Problem => ({ reason: 'InvalidCertificateRef', message });
  if (tls?.mode === 'Passthrough') return invalid('TLS mode Passthrough is not supported with protocol HTTPS');
  const refs = tls?.certificateRefs ?? [];
  let first: NonNullable<CheckedListener['certificate']> | undefined;
  const own = metadata.namespace ?? '';
  for (const { group = '', kind = 'Secret', name, namespace = own } of refs) {
    if (group !== '' || kind !== 'Secret') return invalid(`certificates of kind ${kind} are not supported; Secret is`);
    const from = { group: GATEWAY_GROUP, kind: 'Gateway', namespace: own };
    if (!isGranted(grants, from, { group, kind, namespace, name }))
      return {
        reason: 'RefNotPermitted',
        message: `no ReferenceGrant in namespace ${namespace} permits Secret ${name}`,
      };
    const found: CertificateState = input.certificate({ name, namespace });
    if ('problem' in found) return invalid(found.problem);
    first ??= { ref: { name, namespace }, secret: found };
  }
  return first ?? invalid('the listener has no certificate');
}
