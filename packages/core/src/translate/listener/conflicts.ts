import type { FieldPath } from '../../resource/problem.ts';
import type { VirtualHost } from '../../contract/snapshot.ts';
import { withChanges } from '../../layered-map.ts';
import { virtualHostMessage } from '../status/messages.ts';
import { NO_PROBLEMS, Report, type Problems } from '../status/report.ts';
import type { VirtualServiceBuild } from '../virtual-host/virtual-hosts.ts';

/** The virtual services of one gateway that claim each domain: the name of its virtual host, or sorted names of several. */
type Claims = ReadonlyMap<string, string | readonly string[]>;

/** The domains of the virtual services of one gateway. */
export interface Conflicts {
  readonly claims: Claims;
  /** The domains that several claim, with their claimants. */
  readonly contested: ReadonlyMap<string, readonly string[]>;
  /** For the gateway. */
  readonly all: Problems;
  /** By name of the virtual host; the same object until a conflict changes. */
  readonly byHost: ReadonlyMap<string, readonly ContestedDomain[]>;
}

interface ContestedDomain {
  readonly domain: string;
  readonly message: string;
}

/** A virtual host that claims domains. */
type Claimant = Pick<VirtualHost, 'name' | 'domains'>;

export const NO_CONFLICTS: Conflicts = Object.freeze({
  claims: new Map<string, string>(),
  contested: new Map<string, string[]>(),
  all: NO_PROBLEMS,
  byHost: new Map<string, ContestedDomain[]>(),
});

/** Returns the conflicts after some virtual hosts were replaced by others. */
export function conflictsAfter(before: Conflicts, removed: readonly Claimant[], added: readonly Claimant[]): Conflicts {
  if (hasSameDomains(removed, added)) return before;
  const changed = new Map<string, string[]>();
  const namesOf = (domain: string): string[] => {
    const known = changed.get(domain) ?? [...claimantsOf(before, domain)];
    changed.set(domain, known);
    return known;
  };
  for (const { name, domains } of removed) {
    for (const domain of domains) namesOf(domain).splice(namesOf(domain).indexOf(name), 1);
  }
  for (const { name, domains } of added) for (const domain of domains) namesOf(domain).push(name);
  const claims = withChanges<string, string | readonly string[]>(
    before.claims,
    Array.from(changed, ([domain, names]) => [domain, names.length > 1 ? names.sort() : names[0]] as const),
  );
  const contested = new Map(before.contested);
  let isSame = true;
  for (const [domain, names] of changed) {
    if (names.join() === (contested.get(domain)?.join() ?? '') || (names.length < 2 && !contested.has(domain)))
      continue;
    isSame = false;
    if (names.length > 1) contested.set(domain, names);
    else contested.delete(domain);
  }
  return isSame ? { ...before, claims } : { claims, contested, ...messagesOf(contested) };
}

function hasSameDomains(removed: readonly Claimant[], added: readonly Claimant[]): boolean {
  return (
    removed.length === added.length &&
    added.every((one, i) => one.name === removed[i]!.name && one.domains === removed[i]!.domains)
  );
}

/** Returns the names of the virtual hosts that claim a domain. */
export function claimantsOf({ claims }: Conflicts, domain: string): readonly string[] {
  const names = claims.get(domain) ?? [];
  return typeof names === 'string' ? [names] : names;
}

/** Returns the problems of contested domains, sorted by domain. */
function messagesOf(contested: Conflicts['contested']): Pick<Conflicts, 'all' | 'byHost'> {
  if (contested.size === 0) return { all: NO_PROBLEMS, byHost: NO_CONFLICTS.byHost };
  const all = new Report();
  const byHost = new Map<string, ContestedDomain[]>();
  for (const [domain, names] of [...contested].sort(([a], [b]) => (a < b ? -1 : 1))) {
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

/** Returns the problems of one build, including the conflicts of its domains. */
export function withConflicts(build: VirtualServiceBuild, { byHost }: Pick<Conflicts, 'byHost'>): Problems {
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
