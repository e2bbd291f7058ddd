import { isHost } from '@edge-gateway/core';
import { parseAbsoluteTarget } from '../http1/authority.ts';
import { refusal, type Refusal } from './refusal.ts';

/** The head of a request as `node:http` provides it. */
export interface RequestHead {
  readonly method?: string;
  readonly url?: string;
  readonly httpVersion: string;
  /** True for a request of an HTTP/2 connection; `HTTP/2.0` in the text of one over HTTP/1.1 is invalid. */
  readonly isHttp2?: boolean;
  readonly rawHeaders: readonly string[];
}

/** Limits and switches of one listener. */
export interface RequestRules {
  /** Maximum length of the request target in bytes; a longer one is rejected with 414. Default 8,192. */
  readonly maxTargetBytes: number;
  /** Maximum size of request line and headers in bytes; larger ones are rejected with 431. Default 16,384. */
  readonly maxHeadBytes: number;
  /** Maximum number of headers; more are rejected with 431. Default 100. */
  readonly maxHeaders: number;
  /** Serves HTTP/1.0. Default false: 426. */
  readonly acceptHttp10: boolean;
  /** The host of an HTTP/1.0 request that names none. Default: it is rejected. */
  readonly defaultHost: string;
  /** Serves methods that no standard registers. Default false: 405. */
  readonly anyMethod: boolean;
  /** Rejects header names with underscores with 400. Default false. */
  readonly refuseUnderscores: boolean;
  /** Maximum body size in bytes; larger bodies are rejected with 413. Default 0: no limit. */
  readonly maxBodyBytes: number;
}

/** Headers that may appear once, and no two of them equally long. Cookie and Via may be repeated; unknown ones too. */
const SINGLE = ['host', 'expect', 'content-type', 'authorization', 'content-length', 'transfer-encoding'] as const;
type SingleHeader = (typeof SINGLE)[number];
const BY_LENGTH = Array.from({ length: 18 }, (_, length) => SINGLE.find((name) => name.length === length));

/** The values of headers that may appear once, and other data of a head for the checks. */
interface HeaderScan extends Partial<Record<SingleHeader, string>> {
  /** Bytes of all header lines, with their separators and ends. */
  bytes: number;
  duplicate?: SingleHeader;
  /** A name with an underscore. */
  underscore?: string;
}

function scanHeaders(raw: readonly string[]): HeaderScan {
  const scan: HeaderScan = { bytes: 2 };
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    const value = raw[i + 1]!;
    scan.bytes += name.length + value.length + 4;
    if (name.includes('_')) scan.underscore = name;
    const single = BY_LENGTH[name.length];
    if (single === undefined || name.toLowerCase() !== single) continue;
    if (scan[single] !== undefined) scan.duplicate ??= single;
    else scan[single] = value;
  }
  return scan;
}

const MAX_PORT = 65_535;

type Rule = (head: RequestHead, scan: HeaderScan, rules: RequestRules) => Refusal | undefined;

/** In this order; the first rejection wins. */
const RULES: readonly Rule[] = [
  checkSizes,
  checkVersion,
  checkDuplicates,
  checkTransferEncoding,
  checkContentLength,
  checkMethod,
  checkHost,
  checkTarget,
  checkTunnel,
  checkNames,
  checkExpect,
];

/**
 * Returns why a request must be rejected, or `undefined` if it is valid. Covers what `node:http`'s parser
 * accepts: ambiguous framing, unusual forms of hosts and targets, sizes, versions, methods.
 *
 * @example
 * const refused = checkRequest(req, { ...DEFAULT_RULES, maxHeaders: 50 });
 * if (refused) res.writeHead(refused.status).end();
 */
export function checkRequest(head: RequestHead, rules: RequestRules): Refusal | undefined {
  const scan = scanHeaders(head.rawHeaders);
  for (const rule of RULES) {
    const refused = rule(head, scan, rules);
    if (refused) return refused;
  }
  return undefined;
}

function checkSizes(head: RequestHead, scan: HeaderScan, rules: RequestRules): Refusal | undefined {
  const target = head.url ?? '';
  if (target.length > rules.maxTargetBytes) return refusal('ERR_ROUTING_TARGET_TOO_LONG');
  if (head.rawHeaders.length > 2 * rules.maxHeaders) return refusal('ERR_ROUTING_TOO_MANY_HEADERS');
  const line = (head.method ?? '').length + target.length + ' HTTP/1.1\r\n'.length + 1;
  return line + scan.bytes > rules.maxHeadBytes ? refusal('ERR_ROUTING_HEAD_TOO_LARGE') : undefined;
}

function checkVersion(head: RequestHead, scan: HeaderScan, rules: RequestRules): Refusal | undefined {
  if (head.httpVersion === '1.1' || head.isHttp2) return undefined;
  if (head.httpVersion === '0.9') return refusal('ERR_ROUTING_BAD_REQUEST', { detail: 'HTTP/0.9' });
  if (head.httpVersion !== '1.0') return refusal('ERR_ROUTING_VERSION', { detail: head.httpVersion });
  if (scan['transfer-encoding'] !== undefined) {
    return refusal('ERR_ROUTING_BAD_FRAMING', { detail: 'transfer-encoding in HTTP/1.0' });
  }
  if (rules.acceptHttp10) return undefined;
  return refusal('ERR_ROUTING_HTTP10', { headers: ['upgrade', 'HTTP/1.1'] });
}

function checkDuplicates(_head: RequestHead, { duplicate }: HeaderScan): Refusal | undefined {
  if (duplicate === undefined) return undefined;
  if (duplicate === 'host') return refusal('ERR_ROUTING_BAD_HOST', { detail: 'two hosts' });
  const framing = duplicate === 'content-length' || duplicate === 'transfer-encoding';
  return refusal(framing ? 'ERR_ROUTING_BAD_FRAMING' : 'ERR_ROUTING_DUPLICATE_HEADER', { detail: duplicate });
}

/** Codings of RFC 9112 §7 that could be decoded but are not. Anything else is unknown: 501. */
const CODINGS = /^(?:identity|gzip|x-gzip|deflate|compress|x-compress|chunked|)$/;

function checkTransferEncoding(_head: RequestHead, scan: HeaderScan): Refusal | undefined {
  const value = scan['transfer-encoding'];
  if (value === undefined) return undefined;
  if (scan['content-length'] !== undefined) {
    return refusal('ERR_ROUTING_BAD_FRAMING', { detail: 'content-length and transfer-encoding' });
  }
  const coding = value.toLowerCase();
  if (coding === 'chunked') return undefined;
  const unknown = !coding.includes(',') && !CODINGS.test(coding);
  return refusal(unknown ? 'ERR_ROUTING_TRANSFER_ENCODING' : 'ERR_ROUTING_BAD_FRAMING', {
    detail: 'transfer-encoding',
  });
}

function checkContentLength(_head: RequestHead, scan: HeaderScan, rules: RequestRules): Refusal | undefined {
  const value = scan['content-length'];
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(Number(value))) {
    return refusal('ERR_ROUTING_BAD_FRAMING', { detail: 'content-length' });
  }
  const tooLarge = rules.maxBodyBytes > 0 && Number(value) > rules.maxBodyBytes;
  return tooLarge ? refusal('ERR_ROUTING_BODY_TOO_LARGE') : undefined;
}

/** Methods that the parser accepts beyond the registered ones (RFC 9110 §16.1). */
const UNREGISTERED = new Set(['M-SEARCH', 'MSEARCH', 'NOTIFY', 'PURGE', 'SOURCE', 'SUBSCRIBE', 'UNSUBSCRIBE']);

function checkMethod(head: RequestHead, _scan: HeaderScan, rules: RequestRules): Refusal | undefined {
  const method = head.method ?? '';
  if (method !== 'TRACE' && (rules.anyMethod || !UNREGISTERED.has(method))) return undefined;
  return refusal('ERR_ROUTING_METHOD_NOT_ALLOWED', { detail: method });
}

function checkHost(head: RequestHead, scan: HeaderScan, rules: RequestRules): Refusal | undefined {
  if (scan.host === undefined && head.httpVersion === '1.0' && rules.defaultHost !== '') return undefined;
  if (scan.host !== undefined && isHost(scan.host)) return undefined;
  return refusal('ERR_ROUTING_BAD_HOST', { detail: scan.host === undefined ? 'no host' : 'host' });
}

function checkTarget(head: RequestHead, scan: HeaderScan): Refusal | undefined {
  const target = head.url ?? '';
  if (head.method === 'CONNECT') return checkAuthority(target, scan);
  if (target.startsWith('/') || (target === '*' && head.method === 'OPTIONS')) return undefined;
  const absolute = parseAbsoluteTarget(target);
  if (!absolute) return refusal('ERR_ROUTING_BAD_TARGET');
  if (absolute.authority.toLowerCase() === scan.host?.toLowerCase()) return undefined;
  return refusal('ERR_ROUTING_BAD_HOST', { detail: 'absolute target and host differ' });
}

/** The target of a CONNECT request is a host with a port (RFC 9110 §9.3.6). Some clients send only the host in `Host`. */
function checkAuthority(target: string, { host = '' }: HeaderScan): Refusal | undefined {
  const port = /:(\d{1,5})$/.exec(target)?.[1];
  if (port === undefined || !isHost(target) || Number(port) < 1 || Number(port) > MAX_PORT)
    return refusal('ERR_ROUTING_BAD_TARGET');
  const named = host.toLowerCase();
  const asked = target.toLowerCase();
  if (named === asked || named === asked.slice(0, -port.length - 1)) return undefined;
  return refusal('ERR_ROUTING_BAD_HOST', { detail: 'target and host differ' });
}

/** The body of a CONNECT request could be mistaken for the first bytes of the tunnel. */
function checkTunnel({ method }: RequestHead, scan: HeaderScan): Refusal | undefined {
  if (method !== 'CONNECT') return undefined;
  const hasBody = scan['transfer-encoding'] !== undefined || Number(scan['content-length'] ?? 0) > 0;
  return hasBody ? refusal('ERR_ROUTING_BAD_FRAMING', { detail: 'CONNECT with a body' }) : undefined;
}

/**
 * Returns why a CONNECT request must not be served, or `undefined`. Listeners check it with the rest of the head; in a user's own server nothing
 * else does.
 */
export function checkOwnTunnel(head: RequestHead): Refusal | undefined {
  const scan = scanHeaders(head.rawHeaders);
  if (head.httpVersion !== '1.1' && !head.isHttp2) return refusal('ERR_ROUTING_VERSION', { detail: head.httpVersion });
  return checkDuplicates(head, scan) ?? checkAuthority(head.url ?? '', scan) ?? checkTunnel(head, scan);
}

function checkNames(_head: RequestHead, scan: HeaderScan, rules: RequestRules): Refusal | undefined {
  if (!rules.refuseUnderscores || scan.underscore === undefined) return undefined;
  return refusal('ERR_ROUTING_UNDERSCORE', { detail: scan.underscore });
}

function checkExpect(_head: RequestHead, scan: HeaderScan): Refusal | undefined {
  if (scan.expect === undefined || scan.expect.toLowerCase() === '100-continue') return undefined;
  return refusal('ERR_ROUTING_EXPECTATION');
}
