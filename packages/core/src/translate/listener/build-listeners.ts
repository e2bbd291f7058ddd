import { keyOf } from '../../resource/resource.ts';
import type { Changes } from '../changes.ts';
import { lowerBound } from '../lists.ts';
import type { Memo } from '../memo.ts';
import { outdatedBy } from '../outdated.ts';
import type { TranslationInput } from '../input.ts';
import type { Steps } from '../../time/slices.ts';
import { contestedPorts, type UsedGateway } from './gateways.ts';
import { buildGateway } from './gateway-parts.ts';
import type { ListenerBuild, ListenerContext } from './listeners.ts';

interface ListenersInput {
  readonly input: TranslationInput;
  readonly memo: Memo | undefined;
  readonly changes: Changes | undefined;
}

/** Translates every gateway for each of its proxies. The result is keyed by proxy and gateway. */
export function* buildListeners(
  gateways: readonly UsedGateway[],
  { input, memo, changes }: ListenersInput,
): Steps<ReadonlyMap<string, ListenerBuild>> {
  const outdated = outdatedBy(input, memo, changes);
  const secretsChanged = changes?.kinds.has('Secret') ?? true;
  const lastGoodOf = lastGoodIn(memo);
  const changedServices = changes && [...changes.keys].filter((key) => key.startsWith('VirtualService/'));
  const listeners = new Map<string, ListenerBuild>();
  for (const [proxy, members] of byProxy(gateways)) {
    const contested = contestedPorts(members);
    const served = memo?.snapshots.get(proxy)?.listeners;
    for (const gateway of members) {
      const { name, namespace } = gateway.ref;
      const key = `${proxy} ${keyOf('Gateway', gateway.ref)}`;
      const previous = served?.find((one) => one.gateway.name === name && one.gateway.namespace === namespace);
      const before = memo?.listeners.get(key);
      const shared = { input, proxy, outdated, secretsChanged, lastGoodOf, changedServices };
      const beforeOf = (part: string): ListenerBuild | undefined => memo?.listeners.get(`${key} ${part}`);
      const own = { ...shared, contested: contested.get(gateway), previous, before, beforeOf };
      const { build, parts } = yield* buildGateway(gateway, own);
      listeners.set(key, build);
      for (const [name, part] of parts) listeners.set(`${key} ${name}`, part);
    }
  }
  return listeners;
}

/** Returns gateways by their proxies, sorted by name. */
export function byProxy(gateways: readonly UsedGateway[]): ReadonlyMap<string, readonly UsedGateway[]> {
  const names = [...new Set(gateways.flatMap(({ proxies }) => proxies))].sort();
  return new Map(names.map((name) => [name, gateways.filter(({ proxies }) => proxies.includes(name))]));
}

/** Returns the last good parts of a virtual service on any previous listener. */
function lastGoodIn(memo: Memo | undefined): ListenerContext['lastGoodOf'] {
  return (key) => {
    for (const { builds } of memo?.listeners.values() ?? []) {
      const build = builds[lowerBound(builds, key, ({ stored }) => stored.key)];
      if (build?.stored.key === key) return build.lastGood;
    }
    return undefined;
  };
}
