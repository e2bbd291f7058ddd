import type { FieldPath } from '../../resource/problem.ts';
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

/** The claim of one virtual service to its domains. */
interface DomainClaim {
  readonly name: string;
  readonly domains: readonly string[];
}

/** Returns the domains with several claims, with the names of their claimants, both sorted. Independent of the input order. */
function domainConflicts(claims: readonly DomainClaim[]): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string>();
  const conflicts = new Map<string, string[]>();
  for (const { name, domains } of claims) {
    for (const domain of domains) {
      const owner = owners.get(domain);
      if (owner === undefined) owners.set(domain, name);
      else if (conflicts.has(domain)) conflicts.get(domain)!.push(name);
      else conflicts.set(domain, [owner, name]);
    }
  }
  for (const names of conflicts.values()) names.sort();
  return new Map([...conflicts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
