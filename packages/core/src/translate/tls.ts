import type { SecretSpec } from '../schema/secret.ts';
import type { SslConfig } from '../schema/ssl-config.ts';
import type { TlsConfiguration } from '../snapshot.ts';
import { contentOf } from './content.ts';
import { listenerMessage } from './messages.ts';
import type { Report } from './report.ts';
import { isProblem, readTlsSecret } from './tls-secret.ts';
import { find, type World } from './world.ts';

/** What one virtual service asks of the TLS of its listener. */
export interface TlsClaim {
  /** Name of the virtual host. */
  readonly host: string;
  readonly namespace: string;
  readonly sslConfig: SslConfig;
}

/** The TLS of one listener. */
export interface ListenerTls {
  readonly configurations: readonly TlsConfiguration[];
  /** Virtual hosts whose configuration is left out; they must not be served with the certificate of another. */
  readonly leftOut: ReadonlySet<string>;
}

interface Candidate {
  readonly sslConfig: SslConfig;
  readonly sniDomains: readonly string[];
  readonly hosts: readonly string[];
}

/**
 * The TLS configurations of a listener: equal ones merged, those with a problem left out and reported. One that was
 * served before stays: its certificate still is what the data plane has.
 */
export function listenerTls(
  claims: readonly TlsClaim[],
  before: readonly TlsConfiguration[],
  world: World,
  report: Report,
): ListenerTls {
  const candidates = merge(claims, world);
  const served = new Map(before.map((configuration) => [contentOf(configuration), configuration]));
  const problems = new Map<Candidate, string>();
  for (const candidate of candidates) {
    const problem = sourceProblem(candidate.sslConfig, world, report);
    if (problem) problems.set(candidate, problem);
  }
  for (const candidate of overlapping(candidates, report)) problems.set(candidate, 'overlap');
  const kept = candidates.filter((one) => !problems.has(one) || served.has(contentOf(configurationOf(one))));
  const configurations = kept.map(configurationOf).map((one) => served.get(contentOf(one)) ?? one);
  const leftOut = new Set(candidates.filter((one) => !kept.includes(one)).flatMap(({ hosts }) => hosts));
  return { configurations: sameList(configurations, before), leftOut };
}

/** The list of before when each element is the same object. */
export function sameList<T>(now: readonly T[], before: readonly T[] | undefined): readonly T[] {
  const same = before?.length === now.length && now.every((one, i) => one === before[i]);
  return same ? before : Object.freeze(now);
}

function configurationOf({ sslConfig, sniDomains }: Candidate): TlsConfiguration {
  return Object.freeze({ sslConfig, sniDomains });
}

/** One candidate for each configuration that differs in more than its server names. */
function merge(claims: readonly TlsClaim[], world: World): readonly Candidate[] {
  const merged = new Map<string, { sslConfig: SslConfig; names: Set<string>; any: boolean; hosts: string[] }>();
  for (const { host, namespace, sslConfig } of claims) {
    const { sniDomains = [] } = sslConfig;
    const config = effectiveConfig(sslConfig, namespace, world.settings.oneWayTls);
    const key = contentOf(config);
    const known = merged.get(key) ?? { sslConfig: config, names: new Set(), any: false, hosts: [] };
    for (const name of sniDomains) known.names.add(name.toLowerCase());
    known.any ||= sniDomains.length === 0;
    known.hosts.push(host);
    merged.set(key, known);
  }
  return [...merged]
    .map(([key, { sslConfig, names, any, hosts }]) => {
      const sniDomains = Object.freeze(any ? [] : [...names].sort());
      return { key: `${sniDomains.join()} ${key}`, sslConfig, sniDomains, hosts };
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

interface Effective {
  readonly oneWayTls: boolean | undefined;
  readonly sslConfig: SslConfig;
}

/** By configuration as it is written; its namespace never changes, for it belongs to one resource. */
const effective = new WeakMap<SslConfig, Effective>();

/** The configuration without server names, its secret with a namespace, and what Settings add. */
function effectiveConfig(written: SslConfig, namespace: string, oneWayTls: boolean | undefined): SslConfig {
  const known = effective.get(written);
  if (known && known.oneWayTls === oneWayTls) return known.sslConfig;
  const { sniDomains: _, ...config } = written;
  const { secretRef } = config;
  const sslConfig = Object.freeze({
    ...config,
    ...(secretRef && {
      secretRef: Object.freeze({ name: secretRef.name ?? '', namespace: secretRef.namespace || namespace }),
    }),
    ...(config.oneWayTls === undefined && oneWayTls !== undefined && { oneWayTls }),
  });
  effective.set(written, { oneWayTls, sslConfig });
  return sslConfig;
}

/** Reports what is wrong with the certificate of a configuration. */
function sourceProblem(config: SslConfig, world: World, report: Report): string | undefined {
  const say = (kind: 'SSLConfigError' | 'SSLConfigWarning', reason: string): string => {
    const message = listenerMessage(kind, reason);
    if (kind === 'SSLConfigError') report.error(message);
    else report.warn(message);
    return reason;
  };
  if (config.sds) return say('SSLConfigWarning', 'certificates from a secret discovery server are not served yet');
  const needsCa = (config.verifySubjectAltName?.length ?? 0) > 0;
  if (config.sslFiles) {
    const { tlsCert, tlsKey, rootCa } = config.sslFiles;
    if (!tlsCert || !tlsKey) return say('SSLConfigError', 'sslFiles needs tlsCert and tlsKey');
    return needsCa && !rootCa ? say('SSLConfigError', 'verifySubjectAltName needs a root CA') : undefined;
  }
  if (!config.secretRef) return say('SSLConfigError', 'no certificate information found: sslConfig names no source');
  const ref = { name: config.secretRef.name ?? '', namespace: config.secretRef.namespace ?? '' };
  const secret = readTlsSecret(find<SecretSpec>(world.stored, 'Secret', ref), ref);
  if (isProblem(secret)) {
    const mild = secret.missing && world.settings.warnMissingTlsSecret;
    return say(mild ? 'SSLConfigWarning' : 'SSLConfigError', secret.message);
  }
  const name = `SSL secret ${ref.namespace}.${ref.name}`;
  if (!secret.hasCertificate) return say('SSLConfigError', `${name}: no certificate information found`);
  return needsCa && !secret.hasRootCa
    ? say('SSLConfigError', `verifySubjectAltName needs a root CA, ${name} has none`)
    : undefined;
}

/** Configurations that claim a server name another one claims, or every name as another one does. */
function overlapping(candidates: readonly Candidate[], report: Report): ReadonlySet<Candidate> {
  const byName = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    for (const name of candidate.sniDomains.length > 0 ? candidate.sniDomains : ['']) {
      byName.set(name, [...(byName.get(name) ?? []), candidate]);
    }
  }
  const found = new Set<Candidate>();
  for (const [name, rivals] of byName) {
    if (rivals.length < 2) continue;
    const hosts = rivals.flatMap((rival) => rival.hosts).sort();
    const what = name ? `the server name '${name}'` : 'every server name';
    report.error(
      listenerMessage('SSLConfigError', `different TLS configurations claim ${what}: [${hosts.join(', ')}]`),
    );
    for (const rival of rivals) found.add(rival);
  }
  return found;
}
