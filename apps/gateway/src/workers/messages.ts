import type {
  HostState,
  LoggerName,
  ProxyRejection,
  RequestRecording,
  SettableLevel,
  StatName,
} from '@edge-gateway/core';
import type { ChargedBatch, CountedBatch } from '@edge-gateway/rate-limit';
import type { ListenAddress } from '@edge-gateway/routing';
import type { ResourceDifference } from '@edge-gateway/xds/resources';
import type { ServingSettings } from '../settings.ts';

/** What a worker needs before its first state. */
export interface WorkerSetup {
  /** From 1. */
  readonly worker: number;
  readonly processes: number;
  /** See `Context.processKey`. */
  readonly processKey: string;
  readonly settings: ServingSettings;
  /** Templates of error and login pages, by name; missing for the built-in ones. */
  readonly pages?: ReadonlyMap<string, string>;
  /** Of standard output of the gateway; that of a worker is a pipe. */
  readonly terminal: { readonly isTTY: boolean; readonly hasColors: boolean };
}

/** The change from one state to the next. */
export interface StateChange {
  readonly revision: number;
  /** Of the types that changed. */
  readonly types: readonly ({ readonly type: string } & ResourceDifference)[];
  /** True if the parent has not received the secrets of the state. */
  readonly lacksSecrets: boolean;
}

/** How the workers share ports. */
export interface SharedPorts {
  /** Counts the versions. */
  readonly version: number;
  /** The ports of open listeners, by name. */
  readonly open: ReadonlyMap<string, number>;
  /** True for the worker that opens listeners that are not open yet. */
  readonly opens: boolean;
  /** Ports that hosts that clients choose must not reach. */
  readonly claimed: readonly number[];
}

/** The result of a listener, see `ListenResult`. */
export interface ListenReport {
  readonly name: string;
  readonly address?: string;
  readonly port?: number;
  readonly error?: { readonly code: string; readonly message: string; readonly causeCode?: string };
}

/** The listeners of a worker. */
export interface ListeningReport {
  readonly revision: number;
  /** Version of the shared ports. */
  readonly ports: number;
  readonly results: readonly ListenReport[];
  readonly addresses: readonly ListenAddress[];
}

/** Numbers of a counter or gauge, or of a histogram: count, sum, buckets. */
export type StatNumbers = number | readonly number[];

/** A statistic that a worker reports for the first time. */
export interface NamedStat {
  readonly id: number;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: StatName;
  /** Of a histogram. */
  readonly bounds?: readonly number[];
}

/** The statistics of a worker that changed since its last report. */
export interface StatsReport {
  /** Prefixes of paths that were removed, before everything else. */
  readonly removed: readonly string[];
  readonly named: readonly NamedStat[];
  readonly values: readonly (readonly [id: number, numbers: StatNumbers])[];
  readonly usage: { readonly residentBytes: number; readonly cpuSeconds: number };
}

export type ToWorker =
  | { readonly type: 'setup'; readonly setup: WorkerSetup }
  /** A serialized {@link StateChange}. */
  | { readonly type: 'state'; readonly change: Uint8Array }
  | { readonly type: 'ports'; readonly ports: SharedPorts }
  | { readonly type: 'levels'; readonly levels: readonly (readonly [LoggerName, SettableLevel])[] }
  | { readonly type: 'ticketSecret'; readonly secret: Uint8Array }
  | { readonly type: 'healthy'; readonly healthy: boolean }
  | { readonly type: 'counted'; readonly batch: CountedBatch }
  /** Records the request with this token. */
  | { readonly type: 'record'; readonly token: string }
  | { readonly type: 'report'; readonly what: 'stats' | 'hosts' }
  | { readonly type: 'drain'; readonly limitMs: number }
  | { readonly type: 'close' };

/** Time in milliseconds between two signs of life of a worker. */
export const ALIVE_MS = 500;

export type ToParent =
  /** The parts that cannot be compiled; their previous versions stay in use. */
  | { readonly type: 'applied'; readonly revision: number; readonly rejections: readonly ProxyRejection[] }
  | { readonly type: 'listening'; readonly report: ListeningReport }
  | { readonly type: 'charged'; readonly batch: ChargedBatch }
  | { readonly type: 'stats'; readonly report: StatsReport }
  | { readonly type: 'hosts'; readonly hosts: ReadonlyMap<string, readonly HostState[]> }
  /** The request with this token will be recorded. */
  | { readonly type: 'recording'; readonly token: string }
  | { readonly type: 'recorded'; readonly token: string; readonly recording: RequestRecording }
  | { readonly type: 'drained' }
  /** A sign of life, from the event loop. */
  | { readonly type: 'alive' };
