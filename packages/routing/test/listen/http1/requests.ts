/** Random choices that are the same for the same seed (mulberry32). */
export interface Random {
  /** An integer from 0 to before `end`. */
  integer(end: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

export function seeded(seed: number): Random {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (end: number): number => Math.floor(next() * end);
  return { integer, chance: (probability) => next() < probability, pick: (list) => list[integer(list.length)]! };
}

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'HEAD', 'DELETE', 'PATCH', 'OPTIONS'];
const TARGETS = ['/', '/a/b?c=d&e=%20', '/%2e%2e/x', '/~user;v=1/@:!$', '/a//b/./..', `/${'x'.repeat(300)}`];
const LINES = [
  'User-Agent: curl/8.5.0',
  'Accept: */*',
  'accept-encoding: gzip, deflate',
  'Cookie: a=1; b="2"',
  'Authorization: Bearer abc.def',
  'Content-Type: application/json',
  'X-Request-Id: 7',
  'x_under_score: 1',
  'TE: trailers',
  `X-Long: ${'v'.repeat(500)}`,
  'Connection: keep-alive',
  'Connection: close',
  'If-None-Match: "x"',
];
/** Lines that make a request unusual, ambiguous or invalid. */
const HOSTILE_LINES = [
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding : chunked',
  'Content-Length: 5',
  'Content-Length: +5',
  'Content-Length: 0x5',
  'Content-Length: 05',
  'Content-Length: 5, 5',
  'Content-Length:5',
  'Content-Length: ',
  'Content-Length: 99999999999999999999',
  'Content_Length: 5',
  'Host: b',
  'Host: a b',
  'Host: a@b',
  'Host:',
  'Connection: upgrade',
  'Connection: close, keep-alive',
  'Connection: Content-Length',
  'Proxy-Connection: close',
  'Keep-Alive: timeout=5',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Expect: 100-continue',
  'Expect: other',
  'Trailer: x',
  'HTTP2-Settings: AAMAAABkAAQAAP__',
  ' folded: line',
  '\tfolded',
  'no colon',
  ': no name',
  'a b: c',
  'a\x00b: c',
  'a: b\x00c',
  'a: b\x7f',
  'a: \x80\xff',
  'a: b\rc',
  'a: b\nc: d',
  'a:  two spaces',
  'a: trailing ',
  'a:\ttab',
  'a: in\tside',
  'a:',
];
const HOSTILE_BYTES = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  '\t',
  ' ',
  ':',
  '\x0b',
  '\x7f',
  '\x80',
  '\xff',
  ',',
  ';',
  '/',
  '#',
  '"',
];
const HOSTILE_TARGETS = ['*', 'http://a/', 'http://b/', 'a:80', '//', '/#x', '/\x80', '/a b', '/"', '/\\', '/{}', ''];
const HOSTILE_METHODS = ['get', 'TRACE', 'CONNECT', 'PURGE', 'PRI', 'G ET', '', 'GETT', 'M-SEARCH', 'SOURCE'];
const VERSIONS = ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1 ', 'HTTP/01.1', ''];
const TEXT = 'abcdefghijklmnopqrstuvwxyz';

/** Returns a request, in the plain grammar unless `hostility` is more than 0. */
export function randomRequest(random: Random, hostility: number): string {
  const isHostile = (): boolean => random.chance(hostility);
  const method = isHostile() ? random.pick(HOSTILE_METHODS) : random.pick(METHODS);
  const target = isHostile() ? random.pick(HOSTILE_TARGETS) : random.pick(TARGETS);
  const version = isHostile() ? random.pick(VERSIONS) : 'HTTP/1.1';
  const lines = Array.from({ length: random.integer(4) }, () => random.pick(LINES));
  if (!isHostile()) lines.splice(random.integer(lines.length + 1), 0, 'Host: a');
  let body = '';
  if (['POST', 'PUT', 'PATCH'].includes(method)) {
    const length = random.pick([0, 1, 5, 26]);
    body = TEXT.slice(0, length);
    lines.push(`${random.pick(['Content-Length', 'content-length'])}: ${length}`);
  }
  for (let i = random.integer(3); i > 0; i--)
    if (isHostile()) lines.splice(random.integer(lines.length + 1), 0, random.pick(HOSTILE_LINES));
  const end = isHostile() ? random.pick(['\n', '\r', '\r\r\n', '\n\n']) : '\r\n';
  return `${method} ${target} ${version}\r\n${lines.map((line) => line + (isHostile() ? end : '\r\n')).join('')}\r\n${body}`;
}

/** Returns the text with some characters replaced, inserted, removed, repeated or cut off. */
export function mutated(text: string, random: Random): string {
  let changed = text;
  for (let i = 1 + random.integer(3); i > 0; i--) {
    const at = random.integer(changed.length + 1);
    const length = random.integer(6);
    const [before, after] = [changed.slice(0, at), changed.slice(at)];
    const kind = random.integer(5);
    if (kind === 0) changed = before + random.pick(HOSTILE_BYTES) + after;
    else if (kind === 1) changed = before + random.pick(HOSTILE_BYTES) + after.slice(1);
    else if (kind === 2) changed = before + after.slice(length);
    else if (kind === 3) changed = before + after.slice(0, length) + after;
    else changed = random.chance(0.2) ? before : before + after;
  }
  return changed;
}
