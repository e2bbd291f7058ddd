/** A message: type and number by field name. */
type Fields = Readonly<Record<string, readonly [type: string, id: number, kind?: 'repeated' | 'map']>>;

interface MessageJson {
  readonly fields: object;
}

/** Describes a message of a protocol in the JSON form that `@grpc/proto-loader` reads. */
export function message(fields: Fields): MessageJson {
  return {
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, [type, id, kind]]) => {
        if (kind === 'repeated') return [name, { type, id, rule: 'repeated' }];
        return [name, kind === 'map' ? { type, id, keyType: 'string' } : { type, id }];
      }),
    ),
  };
}

/** Returns the writer of a message. `types` are the messages that it consists of; the protocol library is loaded by the first call. */
export async function loadEncoder(
  types: Readonly<Record<string, object>>,
  name: string,
): Promise<(value: object) => Buffer> {
  const { fromJSON } = await import('@grpc/proto-loader');
  const service = { methods: { Send: { requestType: name, responseType: name } } };
  const nested = { messages: { nested: { ...types, Sender: service } } };
  const definitions = fromJSON({ nested } as Parameters<typeof fromJSON>[0], { keepCase: true, longs: String });
  const sender = definitions['messages.Sender'] as unknown as {
    readonly Send: { readonly requestSerialize: (value: object) => Buffer };
  };
  return sender.Send.requestSerialize;
}
