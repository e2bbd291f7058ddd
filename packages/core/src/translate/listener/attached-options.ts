import { GATEWAY_API_GROUP, gatewayApiListeners, isFromGatewayApi } from '../../resource/generated.ts';
import type { Kind, Resource } from '../../resource/resource.ts';
import type { StoredResource } from '../../resource/stored.ts';
import type { HttpListenerOptionSpec } from '../../schema/kind/http-listener-option.ts';
import type { ListenerOptionSpec, TargetRef } from '../../schema/kind/listener-option.ts';
import type { HttpListenerOptions, ListenerOptions } from '../../schema/listener/gateway-options.ts';
import type { TranslationInput } from '../input.ts';
import { dotted } from '../names.ts';
import { NO_PROBLEMS, Report, type Problems } from '../status/report.ts';
import { fillOptions } from '../virtual-host/options.ts';
import type { UsedGateway } from './gateways.ts';

/** The kinds of options that name the Gateways to which they are attached. */
export const ATTACHED_KINDS = ['ListenerOption', 'HttpListenerOption'] as const satisfies readonly Kind[];
type AttachedKind = (typeof ATTACHED_KINDS)[number];
type AttachedOption = Resource<ListenerOptionSpec | HttpListenerOptionSpec>;

/** A Gateway as targets name it. */
interface Target {
  readonly group: string;
  readonly name: string;
  readonly namespace: string;
  readonly listeners: readonly string[];
}

const OWN_GROUP = 'gateway.vendor.io';

/** Returns gateways with the options that target them; their own options take precedence. */
export function withAttachedOptions(
  gateways: readonly UsedGateway[],
  { list, derived }: Pick<TranslationInput, 'list' | 'derived'>,
): readonly UsedGateway[] {
  if (ATTACHED_KINDS.every((kind) => list(kind).length === 0)) return gateways;
  return gateways.map((gateway) => {
    const target = targetOf(gateway);
    if (!target) return gateway;
    const options = ATTACHED_KINDS.flatMap((kind) => attachedTo(target, list(kind)));
    // The number tells apart lists of which one begins with the other.
    return options.length === 0 ? gateway : derived.of(merged, gateway, options.length, ...options);
  });
}

function merged(gateway: UsedGateway, _count: number, ...attached: readonly AttachedOption[]): UsedGateway {
  const { options, httpGateway, ...rest } = gateway.spec;
  const fill = <O extends object>(kind: AttachedKind, own: O | undefined): O =>
    attached
      .filter((one) => one.kind === kind)
      .reduce<O>((above, { spec }) => fillOptions(above, spec.options as O | undefined), fillOptions(own, undefined));
  const http = httpGateway && {
    ...httpGateway,
    options: fill<HttpListenerOptions>('HttpListenerOption', httpGateway.options),
  };
  const spec = {
    ...rest,
    options: fill<ListenerOptions>('ListenerOption', options),
    ...(http && { httpGateway: http }),
  };
  return Object.freeze({ ...gateway, spec: Object.freeze(spec) });
}

/** Returns the options in use that target a Gateway: those of one listener first, then the older ones. */
function attachedTo(target: Target, options: readonly StoredResource[]): AttachedOption[] {
  return options
    .flatMap(({ resource }) => {
      const option = resource as AttachedOption | undefined;
      const refs = option?.spec.targetRefs?.filter((ref) => isTarget(ref, option.metadata.namespace, target)) ?? [];
      const own = refs.filter(({ sectionName }) => !sectionName || target.listeners.includes(sectionName));
      if (!option || own.length === 0) return [];
      const rank = own.some(({ sectionName }) => sectionName) ? 0 : 1;
      const { creationTimestamp = '', namespace, name } = option.metadata;
      return [{ option, key: `${rank} ${creationTimestamp} ${namespace}/${name}` }];
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ option }) => option);
}

/** Returns whether a reference names a Gateway, whatever its listeners are. Options are effective in their own namespace only. */
function isTarget({ group = GATEWAY_API_GROUP, name, namespace }: TargetRef, own: string, target: Target): boolean {
  return group === target.group && name === target.name && own === target.namespace && (namespace || own) === own;
}

function targetOf({ ref, stored }: UsedGateway): Target | undefined {
  const metadata = stored?.resource?.metadata;
  if (!metadata) return undefined;
  const origin = gatewayApiListeners(metadata);
  if (origin) return { ...origin, group: GATEWAY_API_GROUP };
  return isFromGatewayApi(metadata) ? undefined : { ...ref, group: OWN_GROUP, listeners: [] };
}

/** Returns warnings about the targets of attached options. */
export function attachedOptionProblems({ resource }: StoredResource, gateways: Iterable<UsedGateway>): Problems {
  if (!resource) return NO_PROBLEMS;
  const { kind, metadata, spec } = resource as AttachedOption;
  const { targetRefs = [] } = spec;
  const report = new Report();
  const at = ['spec', 'targetRefs'];
  if (targetRefs.length === 0) report.warn('the options have no effect: they target no Gateway', at);
  const all = [...gateways];
  for (const [i, ref] of targetRefs.entries()) {
    const { name = '', group = GATEWAY_API_GROUP, sectionName } = ref;
    const gateway = `Gateway ${dotted({ namespace: metadata.namespace, name })}`;
    const found = all.filter((one) => {
      const target = targetOf(one);
      return target && isTarget(ref, metadata.namespace, target);
    });
    const listeners = found.flatMap((one) => targetOf(one)!.listeners);
    if (found.length === 0) report.warn(`${gateway} of ${group} not found, or no listener of it is served`, [...at, i]);
    else if (sectionName && !listeners.includes(sectionName))
      report.warn(`${gateway} has no listener ${sectionName} that is served`, [...at, i, 'sectionName']);
    else if (kind === 'HttpListenerOption' && !found.some((one) => one.spec.httpGateway))
      report.warn(`${gateway} has no httpGateway`, [...at, i]);
  }
  return report.problems();
}
