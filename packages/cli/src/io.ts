import type { Readable, Writable } from 'node:stream';

/** The folder of this package: its sources, its compiled modules and its bundle are directly below it. */
export const PACKAGE_FOLDER = new URL('../', import.meta.url);

/** The parts of its process that the program uses, so that it can run inside another program. */
export interface Io {
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Default: that of the process. */
  readonly stdin?: Readable;
  /**
   * Read: `GATEWAYCTL_SERVER`, `GATEWAYCTL_PROXY_ADMIN`, `GATEWAYCTL_CONFIG_FILE`, `GATEWAY_CONFIG`, `HOME`, `KUBECONFIG`, `GATEWAYCTL_KUBECONFIG`,
   * `GATEWAYCTL_KUBE_CONTEXT`, `NO_COLOR`, `TERM`, `PATH`,
   * `EDITOR`, `BROWSER`.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True on a terminal: colours and the progress line are shown. */
  readonly isTTY: boolean;
  /** Base of relative paths. */
  readonly cwd: string;
  /** Version of the program. Default: that of this package. */
  readonly version?: string;
  /** Receives what must be closed at the end of the call, such as connections. Default: nothing is closed. */
  readonly onEnd?: (close: () => Promise<void>) => void;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
}
