import type { Message } from '../message.ts';
import type { Reply } from '../scenario.ts';

/** Returns true if a reply opens the tunnel that the request asked for. */
export function opensTunnel({ startLine, headers }: Message, next: Reply): boolean {
  if (typeof next !== 'string') return false;
  const asksFor = (name: string): boolean => headers.some((field) => field[0].toLowerCase() === name);
  const isWebSocket = asksFor('upgrade') || asksFor(':protocol');
  if (isWebSocket) return next.startsWith('HTTP/1.1 101 ');
  return startLine.startsWith('CONNECT ') && next.startsWith('HTTP/1.1 2');
}
