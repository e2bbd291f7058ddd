import { create, toBinary, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { FilteredHead } from '@edge-gateway/core';
import type { GrpcJsonTranscoder } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { frameOf } from '../../src/transcode/frames.ts';
import { responseFilter } from '../../src/transcode/transcode-response.ts';
import { compileTranscoder } from '../../src/transcode/transcoder.ts';
import { shopDescriptors } from './shop.ts';

const transcoders = new Map<string, ReturnType<typeof compileTranscoder>>();

function shopOf(options: GrpcJsonTranscoder = {}) {
  const key = JSON.stringify(options);
  let known = transcoders.get(key);
  if (!known)
    transcoders.set(key, (known = compileTranscoder({ services: ['shop.Shop'], ...options }, shopDescriptors())));
  return known;
}

const shop = shopOf();
const messageOf = (type: string): DescMessage => shop.registry.getMessage(type)!;

/** A frame with a message. */
function frame(type: string, fields: MessageInitShape<DescMessage>): Buffer {
  const desc = messageOf(type);
  return frameOf(toBinary(desc, create(desc, fields)));
}

const book = (id: number): Buffer => frame('shop.Book', { id: BigInt(id), title: `t${id}` });

interface Response {
  readonly status?: number;
  readonly headers?: readonly string[];
  readonly body?: readonly Buffer[];
  readonly trailers?: readonly string[];
  readonly isLocalReply?: boolean;
  readonly options?: GrpcJsonTranscoder;
  readonly maxBytes?: number;
}

/** Passes a response to a request through the filter; returns its status, headers and body, or the code of its error. */
async function passed(request: string, response: Response): Promise<string> {
  const { status = 200, headers = [], body = [], trailers = ['grpc-status', '0'], options, maxBytes = 1000 } = response;
  const transcoder = shopOf(options);
  const call = transcoder.match(...(request.split(' ') as [string, string]))!;
  const filter = responseFilter({ call, transcoder, maxBytes });
  const head: FilteredHead = {
    status,
    headers: ['content-type', 'application/grpc', 'x-own', '1', ...headers],
    isLocalReply: response.isLocalReply ?? false,
    details: '',
    flags: '',
    hasBody: true,
    trailers,
    signal: new AbortController().signal,
  };
  const parts: Buffer[] = [];
  let outcome = '';
  try {
    const change = await filter.onHead(head);
    if (!change) return 'unchanged';
    if ('transform' in change) parts.push(await change.transform(Buffer.concat(body)));
    else for await (const chunk of change.stream(chunksOf(body))) parts.push(chunk);
    expect(await filter.onTrailers?.(trailers)).to.deep.equal([]);
  } catch (error) {
    outcome = ` ! ${(error as Error).message}`;
  }
  const shown = head.headers.map((text, i) => (i % 2 === 0 ? `${text}:` : text)).join(' ');
  return `${head.status} ${shown} | ${Buffer.concat(parts).toString()}${outcome}`;
}

async function* chunksOf(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts;
}

/** `google.rpc.Status`, which the descriptors do not contain. */
function statusBytes(code: number, message: string): string {
  const desc = messageOf('shop.Book');
  const detail = create(AnySchema, {
    typeUrl: 'type.googleapis.com/shop.Book',
    value: toBinary(desc, create(desc, { id: 7n } as MessageInitShape<DescMessage>)),
  });
  const unknown = create(AnySchema, { typeUrl: 'type.googleapis.com/other.Type', value: Buffer.from([8, 1]) });
  const writer = new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(code)
    .tag(2, WireType.LengthDelimited)
    .string(message);
  for (const each of [detail, unknown]) writer.tag(3, WireType.LengthDelimited).bytes(toBinary(AnySchema, each));
  return Buffer.from(writer.finish()).toString('base64');
}

const GET = 'GET /v1/books/7';
const WATCH = 'GET /v1/watch';
const OWN = 'x-own: 1';

describe('transcoded responses', () => {
  it('have the message as JSON, and the status as a header', async () => {
    expect(await passed(GET, { body: [book(7)], headers: ['grpc-encoding', 'identity'] })).to.equal(
      `200 ${OWN} content-type: application/json grpc-status: 0 | {"id":"7","title":"t7"}`,
    );
  });

  it('are unchanged if they are no gRPC, or of the gateway', async () => {
    expect(await passed(GET, { isLocalReply: true })).to.equal('unchanged');
    const call = shop.match('GET', '/v1/books/7')!;
    const filter = responseFilter({ call, transcoder: shop, maxBytes: 1 });
    const head = { headers: ['content-type', 'text/html'], isLocalReply: false } as unknown as FilteredHead;
    expect(await filter.onHead(head)).to.equal(undefined);
    expect(await filter.onTrailers!(['a', 'b'])).to.deep.equal(['a', 'b']);
  });

  describe('have the HTTP status of a failure', () => {
    const statuses = [499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401];
    for (const [i, status] of statuses.entries()) {
      it(`${i + 1}: ${status}`, async () => {
        const trailers = ['grpc-status', String(i + 1), 'grpc-message', 'not%20here'];
        const expected = `${status} ${OWN} grpc-status: ${i + 1} grpc-message: not%20here | `;
        expect(await passed(GET, { trailers })).to.equal(expected);
        expect(await passed(GET, { trailers: [], headers: trailers })).to.equal(expected);
        expect(await passed(WATCH, { trailers })).to.equal(expected);
      });
    }

    it('which is 500 for an unknown one', async () => {
      expect(await passed(GET, { trailers: ['grpc-status', '77'] })).to.equal(`500 ${OWN} grpc-status: 77 | `);
    });
  });

  describe('have the status as JSON, with convertGrpcStatus', () => {
    const options = { convertGrpcStatus: true };

    it('of code and message', async () => {
      const trailers = ['grpc-status', '5', 'grpc-message', 'not%20here%C3%A9%FF'];
      const expected = `404 ${OWN} content-type: application/json | {"code":5,"message":"not hereé\ufffd"}`;
      expect(await passed(GET, { trailers, options })).to.equal(expected);
      expect(await passed(GET, { trailers: [], headers: trailers, options })).to.equal(expected);
      expect(await passed(WATCH, { trailers, options })).to.equal(expected);
      expect(await passed(GET, { trailers: ['grpc-status', '5'], options })).to.contain(' | {"code":5}');
    });

    it('of its details', async () => {
      const trailers = ['grpc-status', '5', 'grpc-message', 'x', 'grpc-status-details-bin', statusBytes(5, 'no book')];
      expect(await passed(GET, { trailers, options })).to.equal(
        `404 ${OWN} content-type: application/json | {"code":5,"message":"no book","details":[{"id":"7","@type":"type.googleapis.com/shop.Book"},{"@type":"type.googleapis.com/other.Type"}]}`,
      );
    });

    it('without details that cannot be read', async () => {
      for (const details of ['////', 'CgVhYg', '']) {
        const trailers = ['grpc-status', '5', 'grpc-message', 'x', 'grpc-status-details-bin', details];
        const body = (await passed(GET, { trailers, options })).split(' | ')[1];
        expect(body).to.be.oneOf(['{"code":5,"message":"x"}', '{"code":5}', '{}']);
      }
    });

    it('not of a success', async () => {
      expect(await passed(GET, { body: [book(1)], options })).to.contain(' | {"id":"1","title":"t1"}');
    });
  });

  describe('are rejected', () => {
    const invalid = (reason: string): string =>
      `200 content-type: application/grpc ${OWN} |  ! invalid gRPC response: ${reason}`;

    it('without a status', async () => {
      expect(await passed(GET, { body: [book(1)], trailers: [] })).to.equal(invalid('it has no status'));
      expect(await passed(GET, { body: [book(1)], trailers: ['grpc-status', 'ok'] })).to.equal(
        invalid('it has no status'),
      );
      expect(await passed(WATCH, { trailers: [] })).to.equal(invalid('it has no status'));
    });

    it('with another number of messages', async () => {
      expect(await passed(GET, {})).to.equal(invalid('0 messages instead of one'));
      expect(await passed(GET, { body: [book(1), book(2)] })).to.equal(invalid('2 messages instead of one'));
    });

    it('with a message that is too large, compressed or of another type', async () => {
      expect(await passed(GET, { body: [book(1)], maxBytes: 3 })).to.contain('more than 3');
      expect(await passed(GET, { body: [Buffer.from([1, 0, 0, 0, 0])] })).to.equal(invalid('a message is compressed'));
      expect(await passed(GET, { body: [frameOf(Buffer.from([0xff]))] })).to.equal(
        invalid('a message does not match its type'),
      );
    });
  });

  describe('of streams', () => {
    it('are an array', async () => {
      const bytes = Buffer.concat([book(1), book(2)]);
      const expected = `200 ${OWN} content-type: application/json | [{"id":"1","title":"t1"},{"id":"2","title":"t2"}]`;
      for (const cut of [1, 5, 9, 12, bytes.length])
        expect(await passed(WATCH, { body: [bytes.subarray(0, cut), bytes.subarray(cut)] })).to.equal(expected);
    });

    it('are an empty array without messages', async () => {
      expect(await passed(WATCH, {})).to.equal(`200 ${OWN} content-type: application/json grpc-status: 0 | []`);
    });

    it('break off after a message if the call fails', async () => {
      expect(await passed(WATCH, { body: [book(1)], trailers: ['grpc-status', '13'] })).to.equal(
        `200 ${OWN} content-type: application/json | [{"id":"1","title":"t1"} ! invalid gRPC response: the stream ended with status 13`,
      );
    });
  });

  describe('with a raw body', () => {
    const raw = (text: string, type: string): Buffer =>
      frame('google.api.HttpBody', { contentType: type, data: Buffer.from(text) } as MessageInitShape<DescMessage>);

    it('have its data and its type', async () => {
      expect(await passed('POST /v1/raw', { body: [raw('a,b', 'text/csv')] })).to.equal(
        `200 ${OWN} content-type: text/csv grpc-status: 0 | a,b`,
      );
    });

    it('have no type that is no header', async () => {
      expect(await passed('POST /v1/raw', { body: [raw('a', 'text/csv\r\nset-cookie: a=b')] })).to.equal(
        `200 ${OWN} grpc-status: 0 | a`,
      );
    });

    it('may be a field', async () => {
      const content = create(messageOf('google.api.HttpBody'), {
        contentType: 'a/b',
        data: Buffer.from('x'),
      } as MessageInitShape<DescMessage>);
      const body = [frame('shop.File', { name: 'n', content } as MessageInitShape<DescMessage>)];
      expect(await passed('PUT /v1/stored/n', { body })).to.equal(`200 ${OWN} content-type: a/b grpc-status: 0 | x`);
      expect(await passed('PUT /v1/stored/n', { body: [frame('shop.File', {})] })).to.equal(
        `200 ${OWN} grpc-status: 0 | `,
      );
    });

    it('are the data of each message of a stream', async () => {
      const body = [raw('a', 'text/a'), raw('b', 'text/b')];
      expect(await passed('GET /v1/download', { body })).to.equal(`200 ${OWN} content-type: text/a | ab`);
      expect(await passed('GET /v1/download', {})).to.equal(`200 ${OWN} grpc-status: 0 | `);
    });
  });
});
