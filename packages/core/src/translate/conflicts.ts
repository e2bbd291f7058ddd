import { domainConflicts } from './domains.ts';
import { virtualHostMessage } from './messages.ts';
import { NO_PROBLEMS, Report, type Problems } from './report.ts';
import type { VirtualServiceBuild } from './virtual-hosts.ts';

/** The domains that several virtual services of one gateway claim. */
export interface Conflicts {
  /** For the gateway. */
  readonly all: Problems;
  /** By name of the virtual host. */
  readonly byHost: ReadonlyMap<string, Problems>;
}

const NO_CONFLICTS: Conflicts = Object.freeze({ all: NO_PROBLEMS, byHost: new Map<string, Problems>() });

/** Finds the conflicts among builds; those of before hold as long as nobody's domains changed. */
export function conflictsOf(
  builds: readonly VirtualServiceBuild[],
  before: { readonly builds: readonly VirtualServiceBuild[]; readonly conflicts: Conflicts } | undefined,
): Conflicts {
  if (before && sameDomains(builds, before.builds)) return before.conflicts;
  const found = domainConflicts(builds.map(({ virtualHost }) => virtualHost));
  if (found.size === 0) return NO_CONFLICTS;
  const all = new Report();
  const byHost = new Map<string, Report>();
  for (const [domain, names] of found) {
    const reason = `the domain '${domain}' belongs to several virtual services: [${names.join(', ')}]`;
    const message = virtualHostMessage('DomainsNotUniqueError', reason);
    all.error(message);
    for (const name of names) {
      if (!byHost.has(name)) byHost.set(name, new Report());
      byHost.get(name)!.error(message);
    }
  }
  return { all: all.problems(), byHost: new Map(Array.from(byHost, ([name, report]) => [name, report.problems()])) };
}

function sameDomains(now: readonly VirtualServiceBuild[], before: readonly VirtualServiceBuild[]): boolean {
  return (
    now.length === before.length &&
    now.every(({ virtualHost }, i) => {
      const old = before[i]!.virtualHost;
      return virtualHost === old || (virtualHost.domains === old.domains && virtualHost.name === old.name);
    })
  );
}

/** The problems of one build with the conflicts of its domains. */
export function withConflicts({ virtualHost, problems }: VirtualServiceBuild, { byHost }: Conflicts): Problems {
  const conflicts = byHost.size === 0 ? undefined : byHost.get(virtualHost.name);
  if (!conflicts) return problems;
  const report = new Report();
  report.add(conflicts);
  report.add(problems);
  return report.problems();
}
