import type { OnConnection } from './connection-log.ts';

/** What the port of a listener decides for all its parts. */
export interface PortSettings {
  readonly readsProxyHeader: boolean;
  /** Missing if connections are not logged. */
  readonly onConnection: OnConnection | undefined;
}
