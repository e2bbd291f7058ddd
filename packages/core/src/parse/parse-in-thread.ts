import { Worker } from 'node:worker_threads';
import { parseUnit, type ParsedUnit } from './parse.ts';
import type { ParseJob, ParseMessage } from './parse-thread.ts';

/**
 * Parses a large unit in a thread, with the same result as {@link parseUnit}, and with positions. Parsing needs about twenty times as much memory as the text. A thread returns this memory
 * when it ends; in the heap of the process, garbage collections would take long to copy and free it.
 */
export async function parseInThread(bytes: Uint8Array, unit: string, maxFileBytes: number): Promise<ParsedUnit> {
  const file = import.meta.url.endsWith('.ts') ? './parse-thread.ts' : './parse-thread.js';
  const job: ParseJob = { bytes, unit, maxFileBytes };
  try {
    const message = await messageOf(new Worker(new URL(file, import.meta.url), { execArgv: [], workerData: job }));
    return typeof message === 'string' ? (JSON.parse(message) as ParsedUnit) : message;
  } catch {
    // The process lacks the memory or the permission for a thread.
    return parseUnit(bytes, unit, { maxFileBytes });
  }
}

function messageOf(worker: Worker): Promise<ParseMessage> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    // Emitted after its messages.
    worker.once('exit', (code) => reject(new Error(`the thread ended with ${code}`)));
  });
}
