import { open } from 'node:fs/promises';
import type { LogEntry } from './log-fields.ts';

const LIMIT_MS = 10_000;

/** An access log that a gateway writes to a file. */
export interface ReadLog {
  /** Resolves with the entries of the client with an address when there are this many. */
  entriesOf(address: string, count: number): Promise<readonly LogEntry[]>;
}

/** Reads a log while it is written. */
export function readLog(path: string): ReadLog {
  const byAddress = new Map<string, LogEntry[]>();
  let at = 0;
  let rest = '';

  async function readOn(): Promise<void> {
    const file = await open(path, 'r').catch(() => undefined);
    if (!file) return;
    const buffer = Buffer.alloc(65_536);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      rest += buffer.toString('latin1', 0, bytesRead);
    }
    await file.close();
    const lines = rest.split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const entry = JSON.parse(line) as LogEntry;
      const address = String(entry['client']);
      byAddress.set(address, [...(byAddress.get(address) ?? []), entry]);
    }
  }

  let reading: Promise<void> = Promise.resolve();
  return {
    async entriesOf(address, count) {
      const end = Date.now() + LIMIT_MS;
      for (;;) {
        // One after the other: they share the position.
        await (reading = reading.then(readOn));
        const entries = byAddress.get(address) ?? [];
        if (entries.length >= count || Date.now() > end) return entries;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}
