import type { ServiceClientConstructor } from '@grpc/grpc-js';
import { grpcLibrary, protoLoader } from './library.ts';

/** The fields of a message: type and number by name, as in its `.proto` file. */
export type MessageFields = Readonly<Record<string, readonly [type: string, id: number, kind?: 'repeated' | 'map']>>;

/** A part of a package: a message, an enum or a service. */
export type Definition = object;

/** Returns the definition of a message. Keys of its maps are strings; `oneofs` names the fields of each oneof. */
export function message(fields: MessageFields, oneofs: Readonly<Record<string, readonly string[]>> = {}): Definition {
  return {
    oneofs: Object.fromEntries(Object.entries(oneofs).map(([name, oneof]) => [name, { oneof: [...oneof] }])),
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, [type, id, kind]]) => {
        const base = { type, id };
        if (kind === 'repeated') return [name, { ...base, rule: 'repeated' }];
        return [name, kind === 'map' ? { ...base, keyType: 'string' } : base];
      }),
    ),
  };
}

/** `google.protobuf.Struct`, to be spread into the definitions of a package; `toStruct` and `fromStruct` convert it. */
export const STRUCT_MESSAGES: Readonly<Record<string, Definition>> = {
  Struct: message({ fields: ['Value', 1, 'map'] }),
  ListValue: message({ values: ['Value', 1, 'repeated'] }),
  Value: message(
    {
      nullValue: ['int32', 1],
      numberValue: ['double', 2],
      stringValue: ['string', 3],
      boolValue: ['bool', 4],
      structValue: ['Struct', 5],
      listValue: ['ListValue', 6],
    },
    { kind: ['nullValue', 'numberValue', 'stringValue', 'boolValue', 'structValue', 'listValue'] },
  ),
};

/**
 * Creates the client of a service from the parts of its protocol that are used, with the names and numbers on the wire; unknown fields are ignored. Its
 * `service` is used to create a server.
 *
 * @example
 * const Health = grpcService('grpc.health.v1', 'Health', {
 *   HealthCheckRequest: message({ service: ['string', 1] }),
 *   HealthCheckResponse: message({ status: ['int32', 1] }),
 *   Health: { methods: { Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse' } } },
 * });
 */
export function grpcService(
  packageName: string,
  service: string,
  definitions: Readonly<Record<string, Definition>>,
): ServiceClientConstructor {
  const { fromJSON } = protoLoader();
  const names = packageName.split('.');
  const root = names.reduceRight<object>((below, name) => ({ nested: { [name]: below } }), { nested: definitions });
  const options = { keepCase: true, longs: Number, defaults: true, oneofs: true };
  const loaded: object = grpcLibrary().loadPackageDefinition(fromJSON(root as Parameters<typeof fromJSON>[0], options));
  const inner = names.reduce((at, name) => (at as Readonly<Record<string, object>>)[name]!, loaded);
  return (inner as Readonly<Record<string, ServiceClientConstructor>>)[service]!;
}
