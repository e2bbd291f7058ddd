import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';
import { readMessage } from '../message.ts';
import type { Case } from '../scenario.ts';
import type { Http2Request, RequestPart } from './http2-call.ts';

const CONNECT_LINE = /^CONNECT ([\w$.:-]+) HTTP\/1\.1$/;
/** A handshake, of which HTTP/2 has a form (RFC 8441): no other connection option may be named, and the key is valid. */
const HANDSHAKE = /\r\nconnection: upgrade\r\nupgrade: ([\w]+)\r\n/i;
const VALID_KEY = /\r\nsec-websocket-key: [\w+/]{22}==\r\n/i;
const OF_HANDSHAKE = /^(?:connection|upgrade|sec-websocket-key):/i;
const LINE = /^([!#$%&'*+.^_`|~\w-]+) (\/\S*|\*) HTTP\/1\.1$/;
const FIELD = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/s;
const CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'http2-settings']);

/** The fields of the lines of a head, in lower case; `undefined` if HTTP/2 has no form for one of them. */
export function http2Fields(lines: readonly string[]): Field[] | undefined {
  const fields: Field[] = [];
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined || /[\r\n\0]/.test(value)) return undefined;
    const lower = name.toLowerCase();
    if (CONNECTION.has(lower) || (lower === 'te' && value.toLowerCase() !== 'trailers')) return undefined;
    fields.push([lower, value]);
  }
  const lengths = fields.filter(([name]) => name === 'content-length');
  const codings = fields.filter(([name]) => name === 'transfer-encoding');
  if (lengths.length + codings.length > 1) return undefined;
  if (lengths.some(([, value]) => !/^\d{1,15}$/.test(value))) return undefined;
  if (codings.some(([, value]) => value !== 'chunked')) return undefined;
  return fields;
}

/** Returns the requests of a scenario over HTTP/2; `undefined` if it only exists over HTTP/1.1. */
export function http2RequestsOf(request: Case['request']): readonly Http2Request[] | undefined {
  if (typeof request === 'string') return http2Requests([request]);
  return 'http2' in request ? request.http2 : http2Requests(request);
}

/**
 * Returns the HTTP/2 form of the requests in parts of bytes of HTTP/1.1; `undefined` if there is none, because they are malformed, or
 * about the connection.
 */
function http2Requests(parts: readonly string[]): Http2Request[] | undefined {
  const requests: Http2Request[] = [];
  for (let rest = parts; rest.length > 0;) {
    const end = rest[0]!.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [line = '', ...lines] = rest[0]!.slice(0, end).split('\r\n');
    const tunnel = tunnelRequest(rest[0]!);
    if (tunnel) {
      requests.push(tunnel);
      rest = rest.slice(1);
      continue;
    }
    const [, method, path] = LINE.exec(line) ?? [];
    const all = http2Fields(lines);
    if (!all || method === undefined || path === undefined || method === 'CONNECT') return undefined;
    const hosts = all.filter(([name]) => name === 'host');
    if (hosts.length > 1) return undefined;
    const pseudo: Field[] = [
      [':method', method],
      [':scheme', 'http'],
      ...hosts.map(([, host]): Field => [':authority', host]),
      [':path', path],
    ];
    const fields = [...pseudo, ...all.filter(([name]) => name !== 'host' && name !== 'transfer-encoding')];
    const body = bodyParts(rest);
    if (!body) return undefined;
    requests.push({ fields, parts: body });
    rest = rest.slice(body.length);
  }
  return requests;
}

/** Returns the CONNECT request of HTTP/2 for one of HTTP/1.1, or the extended one for a handshake. Bytes behind the head are its first data. */
function tunnelRequest(text: string): Http2Request | undefined {
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...lines] = text.slice(0, end).split('\r\n');
  const [, target] = CONNECT_LINE.exec(line) ?? [];
  const [, protocol] = HANDSHAKE.exec(text.slice(0, end + 2)) ?? [];
  const [, , path] = LINE.exec(line) ?? [];
  const isHandshake = protocol !== undefined && path !== undefined && line.startsWith('GET ') && VALID_KEY.test(text);
  if (target === undefined && !isHandshake) return undefined;
  const all = http2Fields(lines.filter((field) => !OF_HANDSHAKE.test(field)));
  const host = all?.find(([name]) => name === 'host')?.[1];
  if (!all || host === undefined || all.some(([name]) => name === 'content-length')) return undefined;
  const own: Field[] = isHandshake
    ? [
        [':protocol', protocol],
        [':scheme', 'http'],
        [':path', path],
        [':authority', host],
      ]
    : [[':authority', target!]];
  const fields: Field[] = [[':method', 'CONNECT'], ...own, ...all.filter(([name]) => name !== 'host')];
  const part = { body: text.slice(end + 4), trailers: [], ends: false };
  return { fields, parts: [part], opensTunnel: true };
}

/** The parts of the first request; the last one may be incomplete. */
function bodyParts(parts: readonly string[]): RequestPart[] | undefined {
  const read: RequestPart[] = [];
  const isChunked = /\r\ntransfer-encoding:/i.test(parts[0]!);
  let seen = 0;
  for (let count = 1; count <= parts.length; count++) {
    const text = parts.slice(0, count).join('');
    const whole = readMessage(text, { ended: false });
    if (whole && whole.rest !== '') return undefined;
    const message = (whole ?? readMessage(text, { ended: true }))?.message;
    if (!message) return undefined;
    if (isChunked && !areChunks(text.slice(text.indexOf('\r\n\r\n') + 4))) return undefined;
    if (message.trailers.some(([name]) => name.toLowerCase() === 'content-length')) return undefined;
    const trailers = message.trailers.map(([name, value]): Field => [name.toLowerCase(), value]);
    read.push({ body: message.body.slice(seen), trailers, ends: whole !== undefined });
    seen = message.body.length;
    if (whole) return read;
  }
  return isChunked ? undefined : read;
}

/** Whether a body is a sequence of valid chunks. */
function areChunks(text: string): boolean {
  for (let at = 0; ;) {
    const [line, digits] = /^([\da-f]+)(?:;[^\r\n]*)?\r\n/i.exec(text.slice(at)) ?? [];
    if (line === undefined || digits === undefined) return false;
    const size = Number.parseInt(digits, 16);
    if (size === 0) return true;
    at += line.length + size;
    if (!text.startsWith('\r\n', at)) return false;
    at += 2;
  }
}
