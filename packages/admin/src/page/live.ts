import type { Response } from 'express';
import { adminError } from '../error-codes.ts';
import type { EndpointResponse } from '../http/endpoint-response.ts';

const TICK_MS = 2000;
/** Maximum number of open event streams. */
const MAX_CLIENTS = 32;

/** Notifies open pages of changes. */
export interface LiveEvents {
  /** Returns the event stream for a browser. Throws `ERR_ADMIN_TOO_MANY` if too many are open. */
  respond(): EndpointResponse;
}

/** What the events report. */
export interface LiveSource {
  /** Changes whenever the served configuration changes. */
  version(): string;
  /** The change in words, for screen readers. */
  describe(): string;
  /** Called before each event. */
  sample(): Promise<void>;
}

/**
 * Creates the events of a port: `change` after the configuration has changed, otherwise `tick` every two seconds. Nothing runs while no
 * page is open.
 */
export function createLiveEvents(source: LiveSource): LiveEvents {
  const clients = new Set<Response>();
  let timer: NodeJS.Timeout | undefined;
  let version = '';

  async function tick(): Promise<void> {
    await source.sample().catch(() => {});
    const next = source.version();
    const event =
      next === version ? 'event: tick\ndata:\n\n' : `event: change\ndata: ${oneLine(source.describe())}\n\n`;
    version = next;
    // Do not queue events for a browser that does not read.
    for (const client of clients) if (!client.writableNeedDrain) client.write(event);
    if (clients.size > 0) schedule();
  }
  function schedule(): void {
    timer = setTimeout(() => void tick(), TICK_MS).unref();
  }

  return {
    respond() {
      if (clients.size >= MAX_CLIENTS) throw adminError('ERR_ADMIN_TOO_MANY');
      return {
        type: 'events',
        body: 'retry: 2000\n\n',
        stream(res) {
          if (clients.size === 0) {
            version = source.version();
            clearTimeout(timer);
            schedule();
          }
          clients.add(res);
          res.once('close', () => {
            clients.delete(res);
            if (clients.size === 0) clearTimeout(timer);
          });
        },
      };
    },
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
