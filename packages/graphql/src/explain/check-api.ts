import type { FieldProblem, ResourceCheck } from '@edge-gateway/core';
import type { GraphQLApiSpec, Resolution } from '@edge-gateway/core/schema';
import { GraphQLError } from 'graphql';
import { parseTemplate } from '../template/expression.ts';
import { compileRemoteHead } from '../remote/remote-request.ts';
import { compileMetadata } from '../resolvers/grpc/grpc-resolver.ts';
import { compileResponse } from '../resolvers/rest/response.ts';
import { compileJson, compileRestTemplate } from '../resolvers/rest/rest-request.ts';
import { readSchema } from '../schema/read-schema.ts';

const MAX_MESSAGE = 300;
const DESCRIPTOR_FILE = ['grpcDescriptorRegistry', 'protoDescriptor'];

/**
 * Rejects GraphQLApis with an invalid schema definition, with its line and column, or with invalid templates.
 *
 * @example
 * createControlPlane({ source: directorySource('resources'), checks: [graphqlApiCheck] });
 */
export const graphqlApiCheck: ResourceCheck = {
  kind: 'GraphQLApi',
  check({ executableSchema }: GraphQLApiSpec, at) {
    if (!executableSchema) return [];
    const path = [...at, 'executableSchema'];
    const problem = problemOf(executableSchema.schemaDefinition ?? '');
    const findings: FieldProblem[] = problem
      ? [{ code: 'INVALID_GRAPHQL_API', path: [...path, 'schemaDefinition'], ...problem }]
      : [];
    const { protoDescriptor = '' } = executableSchema.grpcDescriptorRegistry ?? {};
    if (protoDescriptor.split(/[/\\]/).includes('..')) {
      const message = 'a file outside the configuration directory is not read: the path must not contain ..';
      findings.push({ code: 'INVALID_GRAPHQL_API', path: [...path, ...DESCRIPTOR_FILE], message });
    }
    const { local, remote } = executableSchema.executor ?? {};
    for (const [name, resolution] of Object.entries(local?.resolutions ?? {})) {
      findings.push(...attempt([...path, 'executor', 'local', 'resolutions', name], () => readTemplates(resolution)));
    }
    if (remote) findings.push(...attempt([...path, 'executor', 'remote'], () => compileRemoteHead(remote)));
    return findings;
  },
};

/** Reads all templates of a resolution. Throws an `Error` that names an invalid one. */
function readTemplates({ restResolver: rest, grpcResolver: grpc }: Resolution): void {
  if (rest) {
    // The control plane itself reports a path that does not begin with '/'.
    const hasInvalidPath = Object.entries(rest.request?.headers ?? {}).some(
      ([name, value]) => name.toLowerCase() === ':path' && !value.startsWith('/'),
    );
    if (!hasInvalidPath) compileRestTemplate(rest);
    compileResponse(rest.response);
    parseTemplate(rest.batch?.key ?? '');
  }
  compileJson(grpc?.requestTransform?.outgoingMessageJson ?? {});
  compileMetadata(grpc?.requestTransform?.requestMetadata ?? {});
}

function attempt(path: FieldProblem['path'], work: () => void): FieldProblem[] {
  try {
    work();
    return [];
  } catch (error) {
    return [{ code: 'INVALID_GRAPHQL_API', path, message: (error as Error).message.slice(0, MAX_MESSAGE) }];
  }
}

/** Returns the problem of a definition, with its place; an empty one is not checked here. */
function problemOf(definition: string): Pick<FieldProblem, 'message' | 'place'> | undefined {
  if (definition.trim() === '') return undefined;
  try {
    readSchema(definition);
    return undefined;
  } catch (error) {
    const firstLine = (error as Error).message.split('\n', 1)[0]!.slice(0, MAX_MESSAGE);
    const [place] = (error instanceof GraphQLError && error.locations) || [];
    if (!place) return { message: firstLine };
    return { message: `line ${place.line}, column ${place.column} of the definition: ${firstLine}`, place };
  }
}
