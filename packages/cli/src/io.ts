import type { Readable, Writable } from 'node:stream';

/** All that the program touches of the process it runs in, so that it can also run inside another one. */
export interface Io {
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Default: that of the process. */
  readonly stdin?: Readable;
  /** Read: `GATEWAYCTL_SERVER`, `GATEWAYCTL_PROXY_ADMIN`, `NO_COLOR`, `TERM`, `PATH`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True when a person looks at the output: colours and the progress line are shown. */
  readonly isTTY: boolean;
  /** What relative paths are relative to. */
  readonly cwd: string;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
}
