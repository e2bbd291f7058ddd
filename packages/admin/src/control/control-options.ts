import type {
  ControlPlaneState,
  HostState,
  Loggers,
  Metrics,
  ProxyStatus,
  Secrets,
  UnservedListener,
} from '@edge-gateway/core';
import type { AdminToken } from '../http/admin-token.ts';
import type { TrafficHistory } from '../page/traffic-history.ts';
import type { UsedCertificates } from '../proxy/used-certificates.ts';
import type { Explain } from '../page/written-request.ts';

/** Health of one part of the running gateway, for `gatewayctl check`. */
export interface Component {
  /** E.g. `control-plane`, `proxy`, `listener-::-8080`. */
  readonly name: string;
  readonly kind: 'control-plane' | 'proxy' | 'listener' | 'worker';
  readonly state: 'ready' | 'starting' | 'draining' | 'failed';
  /** Why it is not ready. */
  readonly reason?: string;
  /** The resources with the problem that is the reason. */
  readonly resources?: UnservedListener['resources'];
  /** Names of the listeners without which it is not ready. */
  readonly waitsFor?: readonly string[];
}

/** One run of the translation, for `/zpages`. */
export interface TranslationRecord {
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  readonly resources: number;
  /** Errors and warnings of the configuration: as many as `/problems` lists. */
  readonly problems: number;
}

/** A page of text that a role adds. */
export interface StatsPage {
  /** E.g. `/rlconfig`. */
  readonly path: string;
  /** For the list of pages. */
  readonly help: string;
  text(): string;
}

/** Options of the control-plane admin. */
export interface ControlAdminOptions {
  /** The newest state; `undefined` before the first. */
  state(): ControlPlaneState | undefined;
  readonly loggers: Loggers;
  readonly metrics: Metrics;
  readonly version: string;
  /** The commit that it was built from. Default: not shown. */
  readonly commit?: string;
  components(): readonly Component[];
  /** The certificates that the status page lists. Default: those of Secrets in `state`. */
  readonly secrets?: Secrets;
  /** The certificates of the flags of the process, for `/problems` and the status page. Default none. */
  certificates?(): readonly UsedCertificates[];
  /** The connected proxies, for `/proxies` and the status page. Default: none; the status page then has no list of proxies. */
  proxies?(): readonly ProxyStatus[];
  /** The last translations, newest first, for `/zpages`; see `followTranslations`. Default none. */
  translations?(): readonly TranslationRecord[];
  /** Brings the statistics up to date, if they are those of other processes. Default: they are those of this process. */
  refresh?(what: 'stats' | 'hosts'): Promise<void>;
  /** Title of the status page. Default `Control plane`. */
  readonly title?: string;
  /** The hosts of an upstream, by its name. Default: other processes have hosts and traffic, and the status page does not show them. */
  hostStates?(upstream: string): readonly HostState[] | undefined;
  /** The traffic that the status page shows, see `recordTraffic`. Default: it shows no traffic of the last hour. */
  readonly history?: TrafficHistory | undefined;
  /** Explains requests on the status page. Default: it does not. */
  readonly explain?: Explain;
  /** Further pages. Default: none. */
  readonly pages?: readonly StatsPage[];
  /** The required token; see `readAdminToken`. Default: no authentication. */
  readonly token?: AdminToken | undefined;
  /** Names that the Host header may have, in addition to `localhost` and IP addresses. Default: none. */
  readonly allowedHosts?: readonly string[];
}
