import type {
  ControlPlaneState,
  HostState,
  Metrics,
  ProxyStatus,
  RecentLines,
  Secrets,
  Snapshot,
} from '@edge-gateway/core';
import type { Component, TranslationRecord } from '../control/control-options.ts';
import type { NavigationItem } from './layout.ts';
import type { TrafficHistory } from './traffic-history.ts';
import type { UsedCertificates } from '../proxy/used-certificates.ts';
import type { Explain } from './written-request.ts';

/** The data of the status page of a port. Sections without data are not shown. */
export interface StatusSources {
  /** E.g. `Control plane`. */
  readonly title: string;
  readonly version: string;
  /** Path of the overview. */
  readonly home: '/' | '/status';
  readonly metrics: Metrics;
  /** Resources with their status; missing for a proxy, which only has its snapshot. */
  state?(): ControlPlaneState | undefined;
  /** One for each proxy. */
  snapshots(): readonly Snapshot[];
  /** Where the certificates of the snapshots are. Only certificates are shown. */
  secrets(): Secrets;
  /** Those of the flags of the process. */
  ownCertificates?: (() => readonly UsedCertificates[]) | undefined;
  components(): readonly Component[];
  /** The hosts of an upstream, by its name; missing if they are known to another process. */
  hostStates?: ((upstream: string) => readonly HostState[] | undefined) | undefined;
  /** Updates statistics and hosts from other processes, if there are any. */
  refresh?: ((what: 'stats' | 'hosts') => Promise<void>) | undefined;
  translations?: (() => readonly TranslationRecord[]) | undefined;
  proxies?: (() => readonly ProxyStatus[]) | undefined;
  explain?: Explain | undefined;
  /** The traffic of the last hour; missing if it is not recorded. */
  readonly history?: TrafficHistory | undefined;
  /** The newest log lines. */
  readonly recent?: RecentLines | undefined;
  /** The pages of the navigation after those of the status page. Default: none. */
  readonly furtherPages?: readonly NavigationItem[] | undefined;
  /** Path and help of the other pages of the port. */
  readonly links: readonly { readonly path: string; readonly help: string }[];
  now(): number;
}

/** Returns true if the process serves requests, so that it has traffic and hosts. */
export function hasTraffic({ hostStates }: StatusSources): boolean {
  return hostStates !== undefined;
}
