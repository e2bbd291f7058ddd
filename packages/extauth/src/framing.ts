/** Headers that frame a message or belong to one connection: no server may grant them, and none is told them. */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** True for a header, in lower case, that is the proxy's own; also for `:path` and its like. */
export function isFraming(name: string): boolean {
  return FRAMING.has(name) || name.startsWith(':');
}
