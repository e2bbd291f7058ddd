const POST = 'POST /x HTTP/1.1\r\nHost: a\r\n';
export const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;
/** A request that must not be served, because it is in the body of another one, or follows one that is rejected. */
export const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const FRAMING = 'ERR_ROUTING_BAD_FRAMING';
const BODY = 'ERR_ROUTING_BAD_BODY';
const HEADER = 'ERR_ROUTING_BAD_HEADER';
export const TRAILER = 'ERR_ROUTING_BAD_TRAILER';

type Case = readonly [name: string, bytes: string, status: number, code: string];

const coding = (value: string): string => `${POST}Transfer-Encoding: ${value}\r\n\r\n0\r\n\r\n${SMUGGLED}`;
const length = (value: string): string => `${POST}Content-Length: ${value}\r\n\r\nabcde${SMUGGLED}`;

/** Requests of HTTP/1.1 that another server could read as others, or as more than one; how they are rejected. */
export const FRAMING_CASES: readonly Case[] = [
  ['CL.TE', `${POST}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG`, 400, FRAMING],
  ['TE.CL', `${POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`, 400, FRAMING],
  ['doubled Transfer-Encoding', coding('chunked\r\nTransfer-Encoding: chunked'), 400, FRAMING],
  ['Transfer-Encoding chunked and identity', coding('chunked\r\nTransfer-Encoding: identity'), 400, FRAMING],
  ['Transfer-Encoding identity and chunked', coding('identity\r\nTransfer-Encoding: chunked'), 400, FRAMING],
  ['Transfer-Encoding ,chunked', coding(',chunked'), 400, FRAMING],
  ['Transfer-Encoding chunked,', coding('chunked,'), 400, FRAMING],
  ['Transfer-Encoding gzip, chunked', coding('gzip, chunked'), 400, FRAMING],
  ['Transfer-Encoding identity, chunked', coding('identity, chunked'), 400, FRAMING],
  ['Transfer-Encoding chunked, chunked', coding('chunked, chunked'), 400, FRAMING],
  ['Transfer-Encoding with a vertical tab', coding('\x0bchunked'), 400, HEADER],
  ['Transfer-Encoding in quotes', coding('"chunked"'), 501, 'ERR_ROUTING_TRANSFER_ENCODING'],
  [
    'Transfer-Encoding in HTTP/1.0',
    'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    FRAMING,
  ],
  ['chunked not last', coding('chunked, gzip'), 400, FRAMING],
  ['no chunked at all', coding('gzip'), 400, FRAMING],
  ['identity alone', coding('identity'), 400, FRAMING],
  ['empty Transfer-Encoding', coding(''), 400, FRAMING],
  ['unknown Transfer-Encoding', coding('xchunked'), 501, 'ERR_ROUTING_TRANSFER_ENCODING'],
  ['empty Content-Length', length(''), 400, FRAMING],
  ['Content-Length with plus', length('+5'), 400, FRAMING],
  ['Content-Length with minus', length('-5'), 400, FRAMING],
  ['Content-Length in hex', length('0x5'), 400, FRAMING],
  ['Content-Length with a letter', length('5a'), 400, FRAMING],
  ['Content-Length as list', length('5, 5'), 400, FRAMING],
  ['Content-Length with a space inside', length('5 5'), 400, FRAMING],
  ['Content-Length overflow', length('99999999999999999999999999'), 400, FRAMING],
  ['Content-Length beyond 2^53', length('9007199254740993'), 400, FRAMING],
  ['two different Content-Lengths', length('5\r\nContent-Length: 6'), 400, FRAMING],
  ['two equal Content-Lengths', length('5\r\nContent-Length: 5'), 400, FRAMING],
  ['chunk size with sign', `${CHUNKED}+5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size with minus', `${CHUNKED}-5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size 0x5', `${CHUNKED}0x5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['empty chunk size', `${CHUNKED}\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size with a space', `${CHUNKED}5 \r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size with a leading space', `${CHUNKED} 5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size overflow', `${CHUNKED}fffffffffffffffff\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk without CRLF behind', `${CHUNKED}5\r\nabcde0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk longer than its size', `${CHUNKED}3\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['bare LF behind a chunk size', `${CHUNKED}5\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['bare LF behind a chunk', `${CHUNKED}5\r\nabcde\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['bare LF at the end', `${CHUNKED}0\r\n\n${SMUGGLED}`, 400, HEADER],
  // The parser of Node limits an extension to 16 KiB; shorter ones are ignored.
  [
    'chunk extension of 17 KiB in a later chunk',
    `${CHUNKED}5\r\nabcde\r\n1;${'x'.repeat(17_408)}\r\na\r\n0\r\n\r\n`,
    413,
    'ERR_ROUTING_CHUNK_EXTENSION',
  ],
  [
    'chunk extension of 17 KiB',
    `${CHUNKED}5;a=${'x'.repeat(17_408)}\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`,
    413,
    'ERR_ROUTING_CHUNK_EXTENSION',
  ],
  ['chunk extension with LF', `${CHUNKED}5;a=b\nxx\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk extension with CR', `${CHUNKED}5;a=b\rxx\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['trailer Content-Length', `${CHUNKED}0\r\nContent-Length: 5\r\n\r\n${SMUGGLED}`, 400, FRAMING],
  ['trailer Transfer-Encoding', `${CHUNKED}0\r\nTransfer-Encoding: chunked\r\n\r\n${SMUGGLED}`, 400, FRAMING],
  ...[
    'Host',
    'Authorization',
    'Cookie',
    'Connection',
    'Content-Type',
    'X-Forwarded-For',
    'x_forwarded_for',
    'Forwarded',
    'Proxy-Authorization',
    'X-Request-Id',
    'X-Envoy-Original-Path',
  ].map((name): Case => [
    `trailer ${name}`,
    `${CHUNKED}5\r\nabcde\r\n0\r\n${name}: a\r\n\r\n${SMUGGLED}`,
    400,
    TRAILER,
  ]),
  [
    '101 trailers',
    `${CHUNKED}5\r\nabcde\r\n0\r\n${'X: a\r\n'.repeat(101)}\r\n${SMUGGLED}`,
    431,
    'ERR_ROUTING_TOO_MANY_HEADERS',
  ],
  ['bare CR in a value', `${POST}X: a\rb\r\n\r\n`, 400, HEADER],
  ['bare CR before a hidden header', `${POST}X: a\r\rTransfer-Encoding: chunked\r\n\r\n`, 400, HEADER],
  ['bare LF in a value', `${POST}X: a\nTransfer-Encoding: chunked\r\n\r\n`, 400, HEADER],
  ['bare LF in the request line', 'GET / HTTP/1.1\nHost: a\n\n', 400, 'ERR_ROUTING_BAD_REQUEST'],
  ['NUL in a value', `${POST}X: a\0b\r\n\r\n`, 400, HEADER],
  ['NUL in a name', `${POST}X\0: a\r\n\r\n`, 400, HEADER],
  ['control character in a value', `${POST}X: a\x01b\r\n\r\n`, 400, HEADER],
  ['obs-fold', `${POST}X: a\r\n b\r\n\r\n`, 400, HEADER],
  ['obs-fold with a tab', `${POST}X: a\r\n\tb\r\n\r\n`, 400, HEADER],
  ['obs-fold of Transfer-Encoding', `${POST}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`, 400, HEADER],
  ['leading space before the first header', 'GET / HTTP/1.1\r\n X: a\r\nHost: a\r\n\r\n', 400, HEADER],
  ['leading space before the method', ' GET / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'ERR_ROUTING_BAD_METHOD'],
  ['space before the colon', `${POST}Content-Length : 5\r\n\r\nabcde`, 400, HEADER],
  ['tab before the colon', `${POST}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n`, 400, HEADER],
  ['empty name', `${POST}: a\r\n\r\n`, 400, HEADER],
  ['no colon', `${POST}Xabc\r\n\r\n`, 400, HEADER],
  ['name that is not a token', `${POST}X@y: a\r\n\r\n`, 400, HEADER],
  ['name with a byte above 0x7f', `${POST}X\xe9: a\r\n\r\n`, 400, HEADER],
  ['name in parentheses', `${POST}X(y): a\r\n\r\n`, 400, HEADER],
];
