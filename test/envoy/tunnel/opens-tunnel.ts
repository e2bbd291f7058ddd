import type { Message } from '../message.ts';
import type { Reply } from '../scenario.ts';

/** Returns true if a reply opens the tunnel that the request asked for. */
export function opensTunnel({ startLine, headers }: Message, next: Reply): boolean {
  if (typeof next !== 'string') return false;
  const isPlainConnect = startLine.startsWith('CONNECT ') && headers.every(([name]) => name !== ':protocol');
  return next.startsWith(isPlainConnect ? 'HTTP/1.1 2' : 'HTTP/1.1 101 ');
}
