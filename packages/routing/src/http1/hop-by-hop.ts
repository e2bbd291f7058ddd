/**
 * Returns true for a header that applies to this connection only (RFC 9110 7.6.1). `name` may be in any case. Trailers are dropped by
 * the forwarder, so `trailer` is one too; `content-length` is not: the forwarder handles framing separately.
 */
export function isHopByHop(name: string): boolean {
  switch (name.length) {
    case 2:
      return name.toLowerCase() === 'te';
    case 7: {
      const lower = name.toLowerCase();
      return lower === 'upgrade' || lower === 'trailer';
    }
    case 10: {
      const lower = name.toLowerCase();
      return lower === 'connection' || lower === 'keep-alive';
    }
    case 14:
      return name.toLowerCase() === 'http2-settings';
    case 16:
      return name.toLowerCase() === 'proxy-connection';
    case 17:
      return name.toLowerCase() === 'transfer-encoding';
    case 18:
      return name.toLowerCase() === 'proxy-authenticate';
    case 19:
      return name.toLowerCase() === 'proxy-authorization';
    default:
      return false;
  }
}

/** Returns true if a `TE` header accepts trailers (RFC 9110 §10.1.4). */
export const acceptsTrailers = (value: string): boolean => TRAILERS.test(value);

const TRAILERS = /(?:^|,)[\t ]*trailers[\t ]*(?:,|$)/i;
const KEEP_ALIVE: readonly string[] = ['keep-alive'];

export function namedByConnection(value: string): readonly string[] {
  if (value === 'keep-alive') return KEEP_ALIVE;
  return value
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}
