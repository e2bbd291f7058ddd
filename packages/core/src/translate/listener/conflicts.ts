import type { FieldPath } from '../../resource/problem.ts';
import { domainConflicts } from './domains.ts';
import { virtualHostMessage } from '../status/messages.ts';
import { NO_PROBLEMS, Report, type Problems } from '../status/report.ts';
import type { VirtualServiceBuild } from '../virtual-host/virtual-hosts.ts';

/** The domains that several virtual services of one gateway claim. */
export interface Conflicts {
  /** For the gateway. */
  readonly all: Problems;
  /** By name of the virtual host. */
  readonly byHost: ReadonlyMap<string, readonly ContestedDomain[]>;
}

interface ContestedDomain {
  readonly domain: string;
  readonly message: string;
}

const NO_CONFLICTS: Conflicts = Object.freeze({ all: NO_PROBLEMS, byHost: new Map<string, ContestedDomain[]>() });

/** Finds the conflicts between builds; the previous ones are reused while no domains changed. */
export function conflictsOf(
  builds: readonly VirtualServiceBuild[],
  before: { readonly builds: readonly VirtualServiceBuild[]; readonly conflicts: Conflicts } | undefined,
): Conflicts {
  if (before && sameDomains(builds, before.builds)) return before.conflicts;
  const found = domainConflicts(builds.map(({ virtualHost }) => virtualHost));
  if (found.size === 0) return NO_CONFLICTS;
  const all = new Report();
  const byHost = new Map<string, ContestedDomain[]>();
  for (const [domain, names] of found) {
    const reason = `the domain '${domain}' belongs to several virtual services: [${names.join(', ')}]`;
    const message = virtualHostMessage('DomainsNotUniqueError', reason);
    all.error(message);
    for (const name of names) {
      if (!byHost.has(name)) byHost.set(name, []);
      byHost.get(name)!.push({ domain, message });
    }
  }
  return { all: all.problems(), byHost };
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

/** Returns the problems of one build, including the conflicts of its domains. */
export function withConflicts(build: VirtualServiceBuild, { byHost }: Conflicts): Problems {
  const { virtualHost, problems, resource } = build;
  const conflicts = byHost.size === 0 ? undefined : byHost.get(virtualHost.name);
  if (!conflicts) return problems;
  const report = new Report();
  for (const { domain, message } of conflicts) {
    report.error(message, domainField(resource.spec.virtualHost?.domains, domain));
  }
  report.add(problems);
  return report.problems();
}

/** Returns the path of a domain; that of the host if it lists none and so claims every domain. */
function domainField(written: readonly string[] | undefined, domain: string): FieldPath {
  const at = written?.findIndex((one) => one.toLowerCase() === domain) ?? -1;
  const host = ['spec', 'virtualHost'];
  return at < 0 ? host : [...host, 'domains', at];
}
