import type { Option } from 'commander';
import type { LoggerLevel, Loggers, LogLevel } from '@edge-gateway/core';

/** A flag that sets a port, and what listens there. */
export interface PortFlag {
  readonly flag: `--${string}`;
  /** Unset: the port is closed unless the flag is set. */
  readonly fallback?: number;
  readonly what: string;
}

/** The settings that every role has. */
export interface RoleSettings {
  /** Address of the admin ports. Default 127.0.0.1. */
  readonly adminAddress: string;
  /** File with the token of the admin ports; required unless they listen on loopback. Default: none. */
  readonly adminTokenFile?: string;
  /** The namespace of the gateway. Default gw-system. */
  readonly namespace?: string;
  readonly logLevel: LogLevel;
  /** Levels of single loggers. Default: that of all. */
  readonly componentLogLevel?: readonly LoggerLevel[];
  /** Seconds that requests in progress have to finish after the first SIGTERM. Default 30. */
  readonly drainSeconds: number;
}

/** The settings of a role with control-plane diagnostics. */
export interface DiagnosedSettings extends RoleSettings {
  readonly statsPort: number;
}

/** The settings of a role that reads resources from a directory. */
export interface ConfiguredSettings extends DiagnosedSettings {
  /** Directory of the resources. */
  readonly config: string;
}

/** The settings of a role that reads resources from a directory or a cluster: one of both is set. */
export interface SourceSettings extends DiagnosedSettings {
  readonly config?: string;
  /** True for the resources of a Kubernetes cluster. */
  readonly kubernetes?: boolean;
  /** Default: the service account of the pod, `KUBECONFIG`, or `~/.kube/config`. */
  readonly kubeconfig?: string;
  /** Default: the current context of the kubeconfig. */
  readonly context?: string;
}

/** The settings of a role that keeps files beyond its process. */
export interface StateSettings {
  /** Directory of these files. Default: none are kept. */
  readonly stateDir?: string | undefined;
  /** File with the key that encrypts secrets in these files. Default: secrets are not saved. */
  readonly snapshotKeyFile?: string;
}

/** What a role gets from its process. */
export interface RoleProcess {
  readonly log: Loggers;
  /** Ends the process gracefully. */
  readonly quit: () => void;
}

/** A role that runs. */
export interface RunningRole {
  /** Ports and problems, for the log line `ready` and for the parent process. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Further facts for the parent process, which the log has in lines of their own. Default: none. */
  readonly details?: RunningRole['facts'];
  /** False if it runs, but something that the resources require is missing; `facts` name it. */
  readonly isReady: boolean;
  /** Resolves with the facts when a role that was not ready becomes ready. Default: it does not. */
  readonly whenReady?: Promise<RunningRole['facts']>;
  /** Accepts no new work, lets work in progress finish within `drainSeconds`, then closes everything. */
  stop(): Promise<void>;
}

/** What one process of `edge-gateway` runs: a subcommand with flags of its own. */
export interface Role<Settings extends RoleSettings = RoleSettings> {
  readonly name: string;
  readonly description: string;
  /** The required flag, as in the help. Default: the flag of the resource directory. */
  readonly required?: { readonly setting: string; readonly flag: string };
  /** Returns why settings do not fit together. It replaces the check of the required flag. */
  readonly check?: (settings: Settings) => string | undefined;
  /** The flags that set ports, by the name of the setting. */
  readonly ports: Readonly<Record<string, PortFlag>>;
  /** Creates all of its flags in the order of the help. `notYet` ends the program for one that is reserved for a later version. */
  options(notYet: (what: string) => never): readonly Option[];
  /** Starts it. Rejects with a `GatewayError` if it cannot start. Unset: reserved for a later version. */
  readonly start?: (settings: Settings, process: RoleProcess) => Promise<RunningRole>;
}
