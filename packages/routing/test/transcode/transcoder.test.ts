import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import type { GrpcJsonTranscoder } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { encodeMessage } from '../../src/transcode/request-message.ts';
import { decodeMessage } from '../../src/transcode/response-message.ts';
import { compileTranscoder, TranscoderProblem, type Transcoder } from '../../src/transcode/transcoder.ts';
import { descriptorSet, shopDescriptors, type Method, type Rule } from './shop.ts';

const SHOP = { services: ['shop.Shop'] };
const shopOf = (options: GrpcJsonTranscoder = {}): Transcoder =>
  compileTranscoder({ ...SHOP, ...options }, shopDescriptors());
const shop = shopOf();

/** Returns the call of a request, and its message as JSON. */
function called(request: string, body?: string, transcoder = shop): string {
  const [method = '', path = ''] = request.split(' ');
  const call = transcoder.match(method, path);
  if (!call) return '';
  const { bound, texts } = call;
  const { input } = bound.method;
  const { registry } = transcoder;
  const parts = { type: input, registry, bodyPath: bound.bodyPath, texts };
  const bytes = encodeMessage(body === undefined ? undefined : Buffer.from(body), parts);
  return `${bound.method.name} ${JSON.stringify(toJson(input, fromBinary(input, bytes), { registry }))}`;
}

/** Calls `Echo` with a body. */
const echo = (body: string, query = ''): string => called(`POST /v1/echo${query}`, body).replace('Echo ', '');
/** Calls `Echo` with a query. */
const asked = (query: string): string => called(`GET /v1/echo?${query}`).replace('Echo ', '');

describe('a transcoder', () => {
  describe('finds the call', () => {
    const calls: Readonly<Record<string, string>> = {
      'GET /v1/books/7': 'Get {"id":"7"}',
      'GET /v1/authors/Ann%20B/books/7?title=x': 'Get {"id":"7","title":"x","author":"Ann B"}',
      'GET /v1/shelves/a/books?size=3&after=b%26c': 'List {"shelf":"shelves/a","size":3,"after":"b&c"}',
      'DELETE /v1/books/7': 'Remove {"id":"7"}',
      'GET /v1/files/a/b%2Fc': 'Echo {"text":"a/b%2Fc"}',
      'GET /v1/deep/x?inner.number=4&inner.inner.sure=true':
        'Echo {"inner":{"text":"x","number":4,"inner":{"sure":true}}}',
      'POST /v1/books': '',
      'GET /v2/books': '',
      'POST /shop.Shop/Hidden': '',
      'POST /shop.Shop/Get': '',
      'HEAD /v1/books/7': '',
    };
    for (const [request, expected] of Object.entries(calls)) {
      it(`of ${request}`, () => expect(called(request)).to.equal(expected));
    }

    it('of methods without a rule by their name, with autoMapping', () => {
      const mapped = shopOf({ autoMapping: true });
      expect(called('POST /shop.Shop/Hidden', '{"id": 1}', mapped)).to.equal('Hidden {"id":"1"}');
      expect(called('GET /shop.Shop/Hidden', undefined, mapped)).to.equal('');
      expect(called('POST /shop.Shop/Get', '{}', mapped)).to.equal('');
    });

    it('with a part of the message as body', () => {
      expect(called('POST /v1/shelves/a/books?note=n&book.id=8', '{"id": 7, "title": "t"}')).to.equal(
        'Add {"shelf":"shelves/a","book":{"id":"8","title":"t"},"note":"n"}',
      );
    });

    it('not with an unknown parameter, unless it is ignored', () => {
      const request = 'GET /v1/books/7?debug=1&title=t';
      expect(called(request)).to.equal('');
      expect(called(request, undefined, shopOf({ ignoredQueryParameters: ['debug'] }))).to.equal(
        'Get {"id":"7","title":"t"}',
      );
      expect(called(request, undefined, shopOf({ ignoreUnknownQueryParameters: true }))).to.equal(
        'Get {"id":"7","title":"t"}',
      );
      for (const name of ['title.x', 'names.x', 'labels.a', 'inner..text', '.text', 'parts.text'])
        expect(asked(`${name}=1`), name).to.equal('');
    });

    it('without parameters that have no value', () => {
      expect(called('GET /v1/books/7?debug&=x&')).to.equal('Get {"id":"7"}');
    });

    it('with the path over the query and the body, also for a default', () => {
      expect(called('PATCH /v1/books/0?id=3', '{"id": 5}')).to.equal('Change {}');
      expect(called('PATCH /v1/books/9?id=3', '{"id": 5, "title": "t"}')).to.equal('Change {"id":"9","title":"t"}');
    });

    it('not if an escape is not UTF-8', () => {
      for (const request of ['GET /v1/texts/%FF', 'GET /v1/echo?text=%C3', 'GET /v1/echo?text=%zz'])
        expect(() => called(request), request).to.throw('an escape of the path or the query is not UTF-8');
    });
  });

  describe('parses parameters', () => {
    const parameters: Readonly<Record<string, string>> = {
      'number=-4&big=9007199254740993&huge=18446744073709551615':
        '{"number":-4,"big":"9007199254740993","huge":"18446744073709551615"}',
      'ratio=1.5e3&precise=0.5&sure=true': '{"ratio":1500,"precise":0.5,"sure":true}',
      'ratio=NaN': '{"ratio":"NaN"}',
      'colour=GREEN&colours=RED&colours=1': '{"colour":"GREEN","colours":["RED","GREEN"]}',
      'colour=7': '{"colour":7}',
      'raw=aGk%3D': '{"raw":"aGk="}',
      'at=2026-01-02T03:04:05Z&took=1.5s&mask=text,inner.text':
        '{"at":"2026-01-02T03:04:05Z","took":"1.500s","mask":"text,inner.text"}',
      'wrapped=0&wrapped_text=&wrappedFlag=false&wrappedLong=7':
        '{"wrapped":0,"wrappedLong":"7","wrappedText":"","wrappedFlag":false}',
      'names=a&names=b,c&numbers=1': '{"names":["a","b,c"],"numbers":[1]}',
      'times=2026-01-02T03:04:05Z': '{"times":["2026-01-02T03:04:05Z"]}',
      'te%78t=a&wrapped.value=5': '{"text":"a","wrapped":5}',
      'sure=Yes&wrapped_flag=0': '{"sure":true,"wrappedFlag":false}',
      'text=a+b': '{"text":"a+b"}',
      'text=1&text=2': '{"text":"2"}',
      'anything=x': '{"anything":"x"}',
    };
    for (const [query, expected] of Object.entries(parameters)) {
      it(query, () => expect(asked(query)).to.equal(expected));
    }

    const rejected: Readonly<Record<string, string>> = {
      'number=a': "parameter 'number'",
      'number=2147483648': "parameter 'number'",
      'number=': "parameter 'number'",
      'sure=2': `parameter 'sure': expected true or false, got "2"`,
      'wrapped_flag=': `parameter 'wrapped_flag': expected true or false, got ""`,
      'leftHand=a&right_hand=2': "parameter 'right_hand': side is set twice",
      'inner.leftHand=a&inner.right_hand=2': "parameter 'inner.right_hand': side is set twice",
      'colour=BLUE': "parameter 'colour'",
      'raw=*': "parameter 'raw'",
      'at=today': "parameter 'at'",
      'took=1': "parameter 'took'",
      'inner=x': "parameter 'inner': a message cannot be set by a parameter",
      'object={}': "parameter 'object': a message cannot be set by a parameter",
      'labels=x': "parameter 'labels': a map cannot be set by a parameter",
      'big=1.5': "parameter 'big'",
    };
    for (const [query, reason] of Object.entries(rejected)) {
      it(`rejects ${query}`, () => {
        expect(() => asked(query))
          .to.throw(`invalid request ${reason}`)
          .with.property('code', 'ERR_ROUTING_GRPC_JSON');
      });
    }
  });

  describe('parses a body', () => {
    const bodies: Readonly<Record<string, string>> = {
      '{}': '{}',
      '{"pageCount": 1, "unknown": {"text": [1]}, "text": "a"}': '{"text":"a"}',
      '{"inner": {"unknown": 1, "parts": [{"unknown": 1, "text": "b"}]}}': '{"inner":{"parts":[{"text":"b"}]}}',
      '{"big": 9007199254740993, "huge": "18446744073709551615", "wrapped_long": 9007199254740993}':
        '{"big":"9007199254740993","huge":"18446744073709551615","wrappedLong":"9007199254740993"}',
      '{"ratio": 9007199254740993, "anything": 9007199254740993}':
        '{"ratio":9007199254740992,"anything":9007199254740992}',
      '{"object": {"a": [1, {"b": null}], "__proto__": 1}}': '{"object":{"a":[1,{"b":null}],"__proto__":1}}',
      '{"labels": {"a": "b", "__proto__": "c"}}': '{"labels":{"a":"b","__proto__":"c"}}',
      '{"packed": {"@type": "type.googleapis.com/shop.Book", "id": "7"}}':
        '{"packed":{"id":"7","@type":"type.googleapis.com/shop.Book"}}',
      '{"text": null, "names": null, "inner": null, "anything": null}': '{"anything":null}',
    };
    for (const [body, expected] of Object.entries(bodies)) {
      it(body, () => expect(echo(body)).to.equal(expected));
    }

    const rejected: Readonly<Record<string, string>> = {
      '[]': 'cannot decode message shop.All from JSON',
      '"a"': 'cannot decode message shop.All from JSON',
      '9007199254740993': 'cannot decode message shop.All from JSON',
      '{"text": 1}': 'cannot decode field shop.All.text from JSON',
      '{"number": 1.5}': 'cannot decode field shop.All.number from JSON',
      '{"number": 9007199254740993}': 'cannot decode field shop.All.number from JSON',
      '{"big": 9223372036854775808}': 'cannot decode field shop.All.big from JSON',
      '{"colour": "BLUE"}': 'cannot decode',
      '{"names": "a"}': 'cannot decode field shop.All.names from JSON',
      '{"names": [null]}': 'cannot decode field shop.All.names from JSON',
      '{"inner": {"inner": {"text": []}}}': 'cannot decode field shop.All.text from JSON',
      '{"wrapped_text": "a", "wrappedText": "a"}': 'set multiple times',
      '{"leftHand": "a", "rightHand": 1}': 'oneof set multiple times',
      '{"packed": {"@type": "type.googleapis.com/other.Type"}}': 'cannot decode',
      '{"text": "\\ud800"}': 'cannot decode',
      '{': 'the body is not valid JSON',
    };
    for (const [body, reason] of Object.entries(rejected)) {
      it(`rejects ${body}`, () => {
        expect(() => echo(body))
          .to.throw(reason)
          .with.property('status', 400);
      });
    }

    it('rejects messages and values that are nested too deep', () => {
      const deep = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels);
      expect(() => echo(deep('{"inner":', '}', 60).replace('}', '{}}'))).not.to.throw();
      expect(() => echo(`{"object":${deep('{"a":', '}', 101)}}`)).to.throw('nested more than 100 levels deep');
    });

    it('bounds the explanation', () => {
      expect(() => echo(`{"colour": "${'x'.repeat(10_000)}"}`))
        .to.throw()
        .with.property('message')
        .with.lengthOf.below(400);
    });
  });

  describe('writes JSON', () => {
    const { input } = shop.match('GET', '/v1/echo')!.bound.method;

    function written(query: string, options: GrpcJsonTranscoder['printOptions'] = {}): string {
      const transcoder = shopOf({ printOptions: options });
      const { bound, texts } = transcoder.match('GET', `/v1/echo?${query}`)!;
      const bytes = encodeMessage(undefined, {
        type: bound.method.input,
        registry: transcoder.registry,
        bodyPath: [],
        texts,
      });
      return decodeMessage(bound.method.output, bytes, { path: [], format: transcoder.format });
    }

    it('with names in camel case, and 64-bit integers as text', () => {
      expect(written('wrapped_text=a&big=1&colour=GREEN')).to.equal('{"big":"1","colour":"GREEN","wrappedText":"a"}');
    });

    it('as the options say', () => {
      const query = 'wrapped_text=a&colour=GREEN';
      expect(written(query, { preserveProtoFieldNames: true, alwaysPrintEnumsAsInts: true })).to.equal(
        '{"colour":1,"wrapped_text":"a"}',
      );
      expect(written(query, { addWhitespace: true })).to.equal('{\n "colour": "GREEN",\n "wrappedText": "a"\n}\n');
      expect(JSON.parse(written('', { alwaysPrintPrimitiveFields: true }))).to.include({
        text: '',
        number: 0,
        big: '0',
        colour: 'RED',
        sure: false,
      });
    });

    it('with the shortest text of a number', () =>
      expect(written('precise=0.1&ratio=0.1')).to.equal('{"ratio":0.1,"precise":0.1}'));

    it('rejects bytes that do not fit', () => {
      const read = () => decodeMessage(input, Buffer.from([0xff]), { path: [], format: shop.format });
      expect(read).to.throw('a message does not match its type').with.property('status', 502);
    });

    it('of one field of the response', () => {
      const { bound } = shop.match('GET', '/v1/shelves/a/titles')!;
      const read = (bytes: Uint8Array) =>
        decodeMessage(bound.method.output, bytes, { path: bound.responsePath, format: shop.format });
      expect(read(Buffer.from([0x0a, 0x02, 0x08, 0x07]))).to.equal('[{"id":"7"}]');
      expect(read(new Uint8Array())).to.equal('[]');
    });
  });

  describe('reports', () => {
    const withRule = (rule: Rule | Uint8Array, more: Partial<Method> = {}): Uint8Array =>
      descriptorSet({ Bad: { Do: { takes: '.shop.Book', returns: '.shop.Book', rule, ...more } } });

    const problems: Readonly<Record<string, readonly [Rule | Uint8Array, string]>> = {
      'an unknown field of the path': [{ at: 'GET /v1/{nothing}' }, "shop.Bad.Do: shop.Book has no field 'nothing'"],
      'an unknown body': [{ at: 'POST /v1', body: 'nothing' }, "shop.Bad.Do: shop.Book has no field 'nothing'"],
      'an unknown field of the response': [
        { at: 'POST /v1', response: 'x' },
        "shop.Bad.Do: shop.Book has no field 'x'",
      ],
      'an invalid path': [{ at: 'GET v1' }, "shop.Bad.Do: invalid path 'v1': it must start with a slash"],
      'a path of two methods': [{ at: 'GET /v1', also: [{ at: 'GET /v1' }] }, 'shop.Bad.Do: GET /v1 is bound twice'],
      'a rule that cannot be read': [Buffer.from([0x12, 0x50, 0x01]), 'shop.Bad.Do: '],
    };
    for (const [name, [rule, message]] of Object.entries(problems)) {
      it(name, () => {
        const compile = () => compileTranscoder({ services: ['shop.Bad'] }, withRule(rule), 'protoDescriptor');
        expect(compile).to.throw(TranscoderProblem, message).with.deep.property('field', ['protoDescriptor']);
      });
    }

    it('an unknown service', () => {
      const compile = () => compileTranscoder({ services: ['shop.Shop', 'shop.Shops'] }, shopDescriptors());
      expect(compile)
        .to.throw('the descriptors have no service shop.Shops')
        .with.deep.property('field', ['services', 1]);
    });

    it('descriptors that cannot be read', () => {
      expect(() => compileTranscoder({}, Buffer.from('hello'))).to.throw('the descriptor set cannot be read');
    });
  });

  it('accepts files without a syntax, as `protoc` writes those in proto2', () => {
    const file = [create(FileDescriptorProtoSchema, { name: 'old.proto', messageType: [{ name: 'Old' }] })];
    const old = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
    const both = compileTranscoder(SHOP, Buffer.concat([shopDescriptors(), old]));
    expect(called('GET /v1/books/7', undefined, both)).to.equal('Get {"id":"7"}');
  });

  it('has custom methods', () => {
    const rule = { at: 'PURGE /v1/{id}', also: [{ at: '* /v1/all/{id}' }] };
    const bytes = descriptorSet({ Own: { Do: { takes: '.shop.Book', returns: '.shop.Book', rule } } });
    const own = compileTranscoder({ services: ['shop.Own'] }, bytes);
    expect(called('PURGE /v1/7', undefined, own)).to.equal('Do {"id":"7"}');
    expect(called('OPTIONS /v1/all/7', undefined, own)).to.equal('Do {"id":"7"}');
    expect(called('GET /v1/7', undefined, own)).to.equal('');
  });
});
