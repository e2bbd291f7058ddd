import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  MethodOptionsSchema,
  type DescriptorProto,
} from '@bufbuild/protobuf/wkt';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

type DescriptorInit = Partial<Omit<DescriptorProto, '$typeName' | '$unknown'>> & object;

const known = (name: string): string => `.google.protobuf.${name}`;

/** Fields by name: a scalar type, or the full name of a message or an enum; `[]` is a list, `{}` a map of strings to it, `|name` a part of a oneof. */
const ALL: Readonly<Record<string, string>> = {
  text: 'STRING',
  number: 'INT32',
  big: 'INT64',
  huge: 'UINT64',
  ratio: 'DOUBLE',
  precise: 'FLOAT',
  sure: 'BOOL',
  colour: '.shop.Colour',
  raw: 'BYTES',
  at: known('Timestamp'),
  took: known('Duration'),
  mask: known('FieldMask'),
  wrapped: known('Int32Value'),
  wrapped_long: known('Int64Value'),
  wrapped_text: known('StringValue'),
  wrapped_flag: known('BoolValue'),
  object: known('Struct'),
  anything: known('Value'),
  packed: known('Any'),
  names: 'STRING[]',
  numbers: 'INT32[]',
  colours: '.shop.Colour[]',
  times: `${known('Timestamp')}[]`,
  inner: '.shop.All',
  parts: '.shop.All[]',
  labels: 'STRING{}',
  left_hand: 'STRING|side',
  right_hand: 'INT32|side',
};
const BOOK = { id: 'INT64', title: 'STRING', author: 'STRING', page_count: 'INT32' };
const RAW = '.google.api.HttpBody';
const ENUMS = new Set(['.shop.Colour']);

const pascal = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

function fieldOf(parent: string, [name, written]: readonly [string, string], number: number): object {
  const [plain = ''] = written.split(/[[{|]/);
  const isMap = written.endsWith('{}');
  const typeName = isMap ? `.shop.${parent}.${pascal(name)}Entry` : plain.startsWith('.') ? plain : '';
  const type = typeName === '' ? Type[plain as 'INT32'] : ENUMS.has(typeName) ? Type.ENUM : Type.MESSAGE;
  const label = /[\]}]$/.test(written) ? Label.REPEATED : Label.OPTIONAL;
  return {
    name,
    number,
    type,
    label,
    ...(typeName !== '' && { typeName }),
    ...(written.includes('|') && { oneofIndex: 0 }),
  };
}

/** A message of these fields. */
export function messageOf(name: string, fields: Readonly<Record<string, string>>): DescriptorInit {
  const entries = Object.entries(fields);
  const maps = entries.filter(([, written]) => written.endsWith('{}'));
  const oneofs = new Set(entries.flatMap(([, written]) => written.split('|')[1] ?? []));
  return {
    name,
    field: entries.map((entry, i) => fieldOf(name, entry, i + 1)),
    oneofDecl: [...oneofs].map((each) => ({ name: each })),
    nestedType: maps.map(([field, written]) => ({
      name: `${pascal(field)}Entry`,
      options: { mapEntry: true },
      field: [fieldOf('', ['key', 'STRING'], 1), fieldOf('', ['value', written.slice(0, -2)], 2)],
    })),
  } as unknown as DescriptorInit;
}

/** A rule of `google.api.http`, e.g. `GET /v1/books`, with its body, the field of its response, and other rules. */
export interface Rule {
  readonly at: string;
  readonly body?: string;
  readonly response?: string;
  readonly also?: readonly Rule[];
}

const NUMBERS: Readonly<Record<string, number>> = { GET: 2, PUT: 3, POST: 4, DELETE: 5, PATCH: 6 };

/** The bytes of a rule. */
export function ruleBytes({ at, body, response, also = [] }: Rule): Uint8Array {
  const [method = '', path = ''] = at.split(' ');
  const writer = new BinaryWriter();
  const text = (field: number, value: string): void => void writer.tag(field, WireType.LengthDelimited).string(value);
  const number = NUMBERS[method];
  if (number) text(number, path);
  else {
    writer.tag(8, WireType.LengthDelimited).fork();
    text(1, method);
    text(2, path);
    writer.join();
  }
  if (body !== undefined) text(7, body);
  if (response !== undefined) text(12, response);
  for (const rule of also) writer.tag(11, WireType.LengthDelimited).bytes(ruleBytes(rule));
  return writer.finish();
}

/** A method: its messages, its rule, and whether it streams. */
export interface Method {
  readonly takes: string;
  readonly returns: string;
  readonly rule?: Rule | Uint8Array;
  readonly streams?: 'requests' | 'responses' | 'both';
}

function methodOf(name: string, { takes, returns, rule, streams }: Method): object {
  const options = create(MethodOptionsSchema);
  const bytes = rule && (rule instanceof Uint8Array ? rule : ruleBytes(rule));
  if (bytes) {
    const data = new BinaryWriter().bytes(bytes).finish();
    options.$unknown = [{ no: 72_295_728, wireType: WireType.LengthDelimited, data }];
  }
  return {
    name,
    inputType: takes,
    outputType: returns,
    ...(rule && { options }),
    clientStreaming: streams === 'requests' || streams === 'both',
    serverStreaming: streams === 'responses' || streams === 'both',
  };
}

/** The files of Google that the descriptors import. */
export const WELL_KNOWN = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
].map(({ proto }) => proto);
const DEPENDENCIES = ['timestamp', 'duration', 'wrappers', 'struct', 'field_mask', 'any'];

/** `wellKnown` adds the files of Google that it imports, as `protoc --include_imports` does. */
interface SetOptions {
  readonly wellKnown?: boolean;
}

/** The bytes of a descriptor set with the services of the package `shop`. */
export function descriptorSet(
  services: Readonly<Record<string, Readonly<Record<string, Method>>>>,
  { wellKnown = false }: SetOptions = {},
): Uint8Array {
  const api = create(FileDescriptorProtoSchema, {
    name: 'google/api/httpbody.proto',
    package: 'google.api',
    syntax: 'proto3',
    messageType: [messageOf('HttpBody', { content_type: 'STRING', data: 'BYTES', extensions: `${known('Any')}[]` })],
    dependency: ['google/protobuf/any.proto'],
  } as MessageInitShape<typeof FileDescriptorProtoSchema>);
  const shop = create(FileDescriptorProtoSchema, {
    name: 'shop.proto',
    package: 'shop',
    syntax: 'proto3',
    dependency: [...DEPENDENCIES.map((name) => `google/protobuf/${name}.proto`), 'google/api/httpbody.proto'],
    enumType: [{ name: 'Colour', value: ['RED', 'GREEN'].map((name, number) => ({ name, number })) }],
    messageType: [
      messageOf('All', ALL),
      messageOf('Book', BOOK),
      messageOf('Books', { books: '.shop.Book[]', next: 'STRING' }),
      messageOf('ListRequest', { shelf: 'STRING', size: 'INT32', after: 'STRING' }),
      messageOf('AddRequest', { shelf: 'STRING', book: '.shop.Book', note: 'STRING' }),
      messageOf('Failure', { code: 'INT32', message: 'STRING', detail: 'BOOL', after: 'INT32' }),
      messageOf('File', { name: 'STRING', content: RAW }),
    ],
    service: Object.entries(services).map(([name, methods]) => ({
      name,
      method: Object.entries(methods).map(([method, written]) => methodOf(method, written)),
    })),
  } as MessageInitShape<typeof FileDescriptorProtoSchema>);
  return toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: [...(wellKnown ? WELL_KNOWN : []), api, shop] }),
  );
}

/** The service `shop.Shop`. */
export const SHOP: Readonly<Record<string, Method>> = {
  Get: {
    takes: '.shop.Book',
    returns: '.shop.Book',
    rule: { at: 'GET /v1/books/{id}', also: [{ at: 'GET /v1/authors/{author}/books/{id}' }] },
  },
  List: {
    takes: '.shop.ListRequest',
    returns: '.shop.Books',
    rule: {
      at: 'GET /v1/{shelf=shelves/*}/books',
      also: [{ at: 'GET /v1/{shelf=shelves/*}/titles', response: 'books' }],
    },
  },
  Add: {
    takes: '.shop.AddRequest',
    returns: '.shop.AddRequest',
    rule: { at: 'POST /v1/{shelf=shelves/*}/books', body: 'book' },
  },
  Change: { takes: '.shop.Book', returns: '.shop.Book', rule: { at: 'PATCH /v1/books/{id}', body: '*' } },
  Remove: { takes: '.shop.Book', returns: '.shop.Book', rule: { at: 'DELETE /v1/books/{id}' } },
  Archive: { takes: '.shop.Book', returns: '.shop.Book', rule: { at: 'POST /v1/books/{id}:archive', body: '*' } },
  Echo: {
    takes: '.shop.All',
    returns: '.shop.All',
    rule: {
      at: 'POST /v1/echo',
      body: '*',
      also: [
        { at: 'GET /v1/echo' },
        { at: 'GET /v1/texts/{text}' },
        { at: 'GET /v1/files/{text=**}' },
        { at: 'GET /v1/deep/{inner.text}' },
      ],
    },
  },
  Upload: { takes: RAW, returns: RAW, rule: { at: 'POST /v1/raw', body: '*' } },
  Store: {
    takes: '.shop.File',
    returns: '.shop.File',
    rule: { at: 'PUT /v1/stored/{name}', body: 'content', response: 'content' },
  },
  Fail: { takes: '.shop.Failure', returns: '.shop.Book', rule: { at: 'GET /v1/fail/{code}' } },
  Watch: { takes: '.shop.Failure', returns: '.shop.Book', rule: { at: 'GET /v1/watch' }, streams: 'responses' },
  Download: { takes: '.shop.Failure', returns: RAW, rule: { at: 'GET /v1/download' }, streams: 'responses' },
  Collect: {
    takes: '.shop.Book',
    returns: '.shop.Books',
    rule: { at: 'POST /v1/collect', body: '*', also: [{ at: 'POST /v1/authors/{author}/collect', body: '*' }] },
    streams: 'requests',
  },
  Chat: { takes: '.shop.Book', returns: '.shop.Book', rule: { at: 'POST /v1/chat', body: '*' }, streams: 'both' },
  Hidden: { takes: '.shop.Book', returns: '.shop.Book' },
};

/** A descriptor set with `shop.Shop`. */
export const shopDescriptors = (options?: SetOptions): Uint8Array => descriptorSet({ Shop: SHOP }, options);
