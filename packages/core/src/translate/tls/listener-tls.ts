import type { Derived } from '../derived.ts';
import { sameList } from '../lists.ts';
import { keyOf } from '../../resource/resource.ts';
import type { SslConfig } from '../../schema/listener/ssl-config.ts';
import type { TlsConfiguration } from '../../contract/snapshot.ts';
import { contentOf } from '../snapshot/content.ts';
import { listenerMessage } from '../status/messages.ts';
import { Report, statusProblem, type FoundProblem, type LocatedProblem, type Problems } from '../status/report.ts';
import type { TranslationSettings } from '../translation-settings.ts';
import { keptProblem, listenerProblem, sourceProblem, verifiesAlike } from './tls-source.ts';
import type { TranslationInput } from '../input.ts';

/** The TLS claim of one virtual service. */
export interface TlsClaim {
  /** Name of the virtual host. */
  readonly host: string;
  readonly namespace: string;
  readonly sslConfig: SslConfig;
}

/** The TLS of one listener, and its input. */
export interface ListenerTls {
  readonly configurations: readonly TlsConfiguration[];
  /** Virtual hosts without their TLS configuration; they must not be served with the certificate of another. */
  readonly leftOut: ReadonlySet<string>;
  readonly problems: Problems;
  /** The same problems, at the virtual services that cause them. */
  readonly located: readonly LocatedProblem[];
  readonly claims: readonly TlsClaim[];
  /** The served claim by virtual host: the last good one if the newest cannot be used. */
  readonly good: ReadonlyMap<string, TlsClaim>;
  readonly settings: TranslationSettings;
}

/** The input of a listener's TLS, besides the claims. */
export interface TlsContext {
  readonly input: TranslationInput;
  /** What the listener served previously. */
  readonly served: readonly TlsConfiguration[];
  readonly before: ListenerTls | undefined;
  readonly secretsChanged: boolean;
}

/** Virtual hosts that share a configuration apart from server names. */
interface Candidate {
  /** Content of the configuration without server names. */
  readonly key: string;
  readonly sslConfig: SslConfig;
  readonly sniDomains: readonly string[];
  readonly claims: readonly TlsClaim[];
}

/**
 * Returns the TLS configurations of a listener: equal ones merged, invalid ones omitted and reported. One that was
 * served previously is kept, because the data plane still has its certificate.
 */
export function listenerTls(claims: readonly TlsClaim[], context: TlsContext): ListenerTls {
  const { input, before } = context;
  if (
    before &&
    !context.secretsChanged &&
    before.settings === input.settings &&
    sameClaims(claims, before.claims, input.derived)
  ) {
    return before;
  }
  const findings: Findings = { input, report: new Report(), located: [] };
  const served = new Map(context.served.map((one) => [contentOf(one.sslConfig, input.derived), one]));
  const used = withLastGood(claims, { before, served, findings });
  const candidates = merge(used, input);
  const bad = new Set(candidates.filter((candidate) => !isUsable(candidate, findings)));
  const contested = overlapping(candidates, findings);
  const configurations: TlsConfiguration[] = [];
  const leftOut = new Set<string>();
  for (const candidate of candidates) {
    const old = served.get(candidate.key);
    if (!old && (bad.has(candidate) || contested.has(candidate)))
      for (const { host } of candidate.claims) leftOut.add(host);
    else configurations.push(configurationOf(candidate, old, contested.has(candidate)));
  }
  const { settings } = input;
  return {
    configurations: sameList(configurations, context.served),
    leftOut,
    problems: findings.report.problems(),
    located: findings.located,
    claims,
    good: goodClaims(used, leftOut, before),
    settings,
  };
}

interface LastGoodClaims {
  readonly before: ListenerTls | undefined;
  /** By content of the configuration. */
  readonly served: ReadonlyMap<string, TlsConfiguration>;
  readonly findings: Findings;
}

/** Returns the claims, with the last good one instead of each whose certificate a change made unusable. */
function withLastGood(claims: readonly TlsClaim[], { before, served, findings }: LastGoodClaims): readonly TlsClaim[] {
  const { input } = findings;
  const configOf = ({ sslConfig, namespace }: TlsClaim) =>
    input.derived.of(effectiveConfig, sslConfig, namespace, input.settings.oneWayTls);
  const problemOf = (config: SslConfig) =>
    served.has(contentOf(config, input.derived)) ? undefined : sourceProblem(config, input);
  return claims.map((claim) => {
    const good = before?.good.get(claim.host);
    const problem = good && problemOf(configOf(claim));
    if (!problem || problemOf(configOf(good)) || !verifiesAlike(configOf(claim), configOf(good))) return claim;
    attribute(keptProblem(problem), { sslConfig: claim.sslConfig, claims: [claim] }, findings);
    return good;
  });
}

function goodClaims(
  used: readonly TlsClaim[],
  leftOut: ReadonlySet<string>,
  before: ListenerTls | undefined,
): ReadonlyMap<string, TlsClaim> {
  const good = new Map<string, TlsClaim>();
  for (const claim of used) {
    const one = leftOut.has(claim.host) ? before?.good.get(claim.host) : claim;
    if (one) good.set(claim.host, one);
  }
  return good;
}

interface Findings {
  readonly input: TranslationInput;
  readonly report: Report;
  readonly located: LocatedProblem[];
}

function isUsable(candidate: Candidate, findings: Findings): boolean {
  const problem = sourceProblem(candidate.sslConfig, findings.input);
  if (problem) attribute(listenerProblem(problem), candidate, findings);
  return !problem;
}

/** Reports a problem of a configuration, and locates it at its virtual services. */
function attribute(
  problem: FoundProblem,
  { sslConfig, claims }: Pick<Candidate, 'sslConfig' | 'claims'>,
  { report, located }: Findings,
): void {
  report.add([problem]);
  const path = ['spec', 'sslConfig', ...(sslConfig.secretRef ? ['secretRef'] : [])];
  located.push(...claims.map((claim) => locate(claim, { ...problem, path })));
}

function locate({ host, namespace }: TlsClaim, problem: FoundProblem): LocatedProblem {
  return { key: keyOf('VirtualService', { namespace, name: host.slice(namespace.length + 1) }), problem };
}

function sameClaims(now: readonly TlsClaim[], before: readonly TlsClaim[], derived: Derived): boolean {
  return (
    now.length === before.length &&
    now.every(({ host, sslConfig }, i) => {
      const old = before[i]!;
      if (host !== old.host) return false;
      return sslConfig === old.sslConfig || contentOf(sslConfig, derived) === contentOf(old.sslConfig, derived);
    })
  );
}

/** If names are contested, the served configuration stays unchanged, so that it claims no more than before. */
function configurationOf(
  { sslConfig, sniDomains }: Candidate,
  old: TlsConfiguration | undefined,
  isContested: boolean,
): TlsConfiguration {
  if (old && (isContested || old.sniDomains.join() === sniDomains.join())) return old;
  return Object.freeze({ sslConfig: old?.sslConfig ?? sslConfig, sniDomains });
}

/** Returns one candidate per configuration, ignoring server names. */
function merge(claims: readonly TlsClaim[], input: TranslationInput): readonly Candidate[] {
  const merged = new Map<string, { sslConfig: SslConfig; names: Set<string>; any: boolean; claims: TlsClaim[] }>();
  for (const claim of claims) {
    const { namespace, sslConfig } = claim;
    const { sniDomains = [] } = sslConfig;
    const config = input.derived.of(effectiveConfig, sslConfig, namespace, input.settings.oneWayTls);
    const key = contentOf(config, input.derived);
    const known = merged.get(key) ?? { sslConfig: config, names: new Set(), any: false, claims: [] };
    for (const name of sniDomains) known.names.add(name.toLowerCase());
    known.any ||= sniDomains.length === 0;
    known.claims.push(claim);
    merged.set(key, known);
  }
  return Array.from(merged, ([key, { sslConfig, names, any, claims }]) => {
    const sniDomains = Object.freeze(any ? [] : [...names].sort());
    return { key, sslConfig, sniDomains, claims };
  }).sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Returns the configuration without server names, with the namespace of its secret and the defaults of Settings. */
export function effectiveConfig(written: SslConfig, namespace: string, oneWayTls: boolean | undefined): SslConfig {
  const { sniDomains: _, ...config } = written;
  const { secretRef } = config;
  return Object.freeze({
    ...config,
    ...(secretRef && {
      secretRef: Object.freeze({ name: secretRef.name ?? '', namespace: secretRef.namespace || namespace }),
    }),
    ...(config.oneWayTls === undefined && oneWayTls !== undefined && { oneWayTls }),
  });
}

/** Returns the candidates that claim the same server name, or every name, as another one. */
function overlapping(candidates: readonly Candidate[], { report, located }: Findings): ReadonlySet<Candidate> {
  const byName = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    for (const name of candidate.sniDomains.length > 0 ? candidate.sniDomains : ['']) {
      const rivals = byName.get(name);
      if (rivals) rivals.push(candidate);
      else byName.set(name, [candidate]);
    }
  }
  const found = new Set<Candidate>();
  for (const [name, rivals] of byName) {
    if (rivals.length < 2) continue;
    const claims = rivals.flatMap((rival) => rival.claims);
    const hosts = claims.map(({ host }) => host).sort();
    const what = name ? `the server name '${name}'` : 'every server name';
    const reason = `different TLS configurations claim ${what}: [${hosts.join(', ')}]`;
    const message = listenerMessage('SSLConfigError', reason);
    report.error(message);
    const problem = statusProblem('error', message, ['spec', 'sslConfig', ...(name ? ['sniDomains'] : [])]);
    located.push(...claims.map((claim) => locate(claim, problem)));
    for (const rival of rivals) found.add(rival);
  }
  return found;
}
