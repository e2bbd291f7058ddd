import protobuf from 'protobufjs';
import type { Resolution } from '@edge-gateway/core/schema';
import { firstOf, roomForFields, type DiscoveryBounds } from './bounds.ts';
import type { Discovery, Probe, Skipped, UpstreamName } from './discovered-api.ts';
import { rootOfDescriptorSet } from './descriptor-set.ts';
import { createMessageTypes } from './message-types.ts';
import { toGraphQLName, toSnakeCase, toTypeName, uniqueNames } from './names.ts';
import { nameOfUpstream, specOf } from './openapi/openapi.ts';
import { createSchemaText, type FieldText } from './schema-text.ts';

/** Matches names of methods that only read; others become mutations. */
const READS = /^(get|list|find|search|read|fetch|query|lookup|look|count|describe|check|watch|show|batchget|resolve)/i;

/**
 * Creates an API with a field per method of the services: named as the method, with one argument named as the message it
 * takes (`GetUser(user_search: …)`). Streaming methods are skipped.
 */
export function discoverGrpc(
  upstream: UpstreamName,
  probe: Extract<Probe, { type: 'grpc' }>,
  bounds: DiscoveryBounds,
): Discovery {
  const root = rootOfDescriptorSet(probe.descriptorSet);
  const skipped: Skipped[] = [];
  const text = createSchemaText();
  const types = createMessageTypes(text, { skipped, takeFields: roomForFields(bounds.fields, skipped) });
  const unique = { Query: uniqueNames(), Mutation: uniqueNames() };
  const fields: Record<'Query' | 'Mutation', FieldText[]> = { Query: [], Mutation: [] };
  const resolutions: Record<string, Resolution> = {};
  const methods = methodsOf(root, probe.services, skipped);
  for (const { service, method } of firstOf(methods, bounds.operations, { skipped, where: 'services' })) {
    const kind = READS.test(method.name) ? 'Query' : 'Mutation';
    const name = unique[kind](toGraphQLName(method.name));
    const input = method.resolvedRequestType!;
    const argument = toSnakeCase(toGraphQLName(input.name));
    const takes = input.fieldsArray.length > 0;
    const args = takes ? [{ name: argument, type: types.typeOf(input, 'input') }] : [];
    const resolve = `${kind}|${name}`;
    fields[kind].push({ name, type: types.typeOf(method.resolvedResponseType!, 'output'), args, resolve });
    const requestTransform = {
      outgoingMessageJson: takes ? `{$args.${argument}}` : {},
      serviceName: service,
      methodName: method.name,
    };
    const upstreamRef = { name: upstream.name, namespace: upstream.namespace };
    resolutions[resolve] = { grpcResolver: { upstreamRef, requestTransform } };
  }
  if (Object.keys(resolutions).length === 0) throw new Error('the service has no supported method');
  if (fields.Query.length === 0) Object.assign(resolutions, nameOfUpstream(upstream, fields.Query));
  text.type('type', 'Query', fields.Query);
  if (fields.Mutation.length > 0) text.type('type', 'Mutation', fields.Mutation);
  if (types.usesJson) text.scalar('JSON');
  const spec = specOf(String(text), resolutions);
  const protoDescriptorBin = Buffer.from(probe.descriptorSet).toString('base64');
  return {
    spec: { executableSchema: { ...spec.executableSchema, grpcDescriptorRegistry: { protoDescriptorBin } } },
    skipped,
  };
}

interface ServiceMethod {
  readonly service: string;
  readonly method: protobuf.Method;
}

function methodsOf(root: protobuf.Root, services: readonly string[], skipped: Skipped[]): ServiceMethod[] {
  return services.flatMap((service) => {
    const found = root.lookup(service, [protobuf.Service]);
    if (!(found instanceof protobuf.Service)) {
      skipped.push({ where: service, reason: 'the descriptors do not contain it' });
      return [];
    }
    return found.methodsArray.flatMap((method): ServiceMethod[] => {
      const where = `${service}/${method.name}`;
      if (method.requestStream || method.responseStream) {
        skipped.push({ where, reason: 'streaming is not supported' });
        return [];
      }
      try {
        method.resolve();
      } catch (error) {
        skipped.push({ where, reason: (error as Error).message });
        return [];
      }
      return toTypeName(method.name) === '' ? [] : [{ service, method }];
    });
  });
}
