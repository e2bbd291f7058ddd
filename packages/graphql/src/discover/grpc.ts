import type { DescMethod } from '@bufbuild/protobuf';
import type { ResourceRef } from '@edge-gateway/core';
import { messageRegistry } from '@edge-gateway/core/descriptors';
import { ApiDraft } from './api-draft.ts';
import type { Discovery, DiscoveryBounds, Probe } from './discovered-api.ts';
import { createMessageTypes } from './message-types.ts';
import { toGraphQLName, toSnakeCase } from './names.ts';

/** Matches names of methods that only read; others become mutations. */
const READS = /^(get|list|find|search|read|fetch|query|lookup|look|count|describe|check|watch|show|batchget|resolve)/i;

/** Creates an API with a field per unary method, whose argument is named as its message: `GetUser(user_search: …)`. */
export function discoverGrpc(
  upstream: ResourceRef,
  { descriptorSet, services }: Extract<Probe, { type: 'grpc' }>,
  bounds: DiscoveryBounds,
): Discovery {
  const draft = new ApiDraft(upstream, bounds);
  const typeOf = createMessageTypes(draft);
  for (const { parent, name, input, output } of draft.firstOf(methodsOf(descriptorSet, services, draft), 'services')) {
    const argument = toSnakeCase(toGraphQLName(input.name));
    const takes = input.fields.length > 0;
    const args = takes ? [{ name: argument, type: typeOf(input, 'input') }] : [];
    const field = { name: toGraphQLName(name), type: typeOf(output, 'output'), args };
    const requestTransform = {
      outgoingMessageJson: takes ? `{$args.${argument}}` : {},
      serviceName: parent.typeName,
      methodName: name,
    };
    draft.addOperation(READS.test(name) ? 'Query' : 'Mutation', field, {
      grpcResolver: { upstreamRef: draft.upstream, requestTransform },
    });
  }
  const executableSchema = draft.finish('the service has no supported method');
  const protoDescriptorBin = Buffer.from(descriptorSet).toString('base64');
  return {
    spec: { executableSchema: { ...executableSchema, grpcDescriptorRegistry: { protoDescriptorBin } } },
    skipped: draft.skipped,
  };
}

function methodsOf(descriptorSet: Uint8Array, services: readonly string[], { skipped }: ApiDraft): DescMethod[] {
  const registry = messageRegistry(descriptorSet);
  return services.flatMap((service) => {
    const found = registry.getService(service);
    if (!found) skipped.push({ where: service, reason: 'the descriptors do not contain it' });
    return (found?.methods ?? []).filter(({ name, methodKind }) => {
      if (methodKind === 'unary') return toGraphQLName(name) !== '';
      skipped.push({ where: `${service}/${name}`, reason: 'streaming is not supported' });
      return false;
    });
  });
}
