import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import { textPlace } from '../parse/text-place.ts';
import type { GraphQLApiSpec, Resolution } from '../schema/kind/graphql-api.ts';
import { suggest } from '../syntax/did-you-mean.ts';

/** Matches strings and comments of a schema definition, which contain no directives, and `@resolve` with its name. */
const PARTS =
  /"""(?:\\"""|[^"]|"(?!""))*"""|"(?:\\.|[^"\\\n])*"|#[^\n\r]*|@resolve\b\s*\(\s*name\s*:\s*"((?:\\.|[^"\\\n])*)"/g;

/** Returns problems of a GraphQLApi that would make every request fail. */
export function checkGraphQLApi(spec: GraphQLApiSpec, at: FieldPath): FieldProblem[] {
  const { executableSchema, stitchedSchema } = spec;
  const findings = [...checkHashes(spec.allowedQueryHashes ?? [], [...at, 'allowedQueryHashes'])];
  if (stitchedSchema) findings.push(...checkSubschemas(stitchedSchema.subschemas ?? [], [...at, 'stitchedSchema']));
  if (!executableSchema) return findings;
  const path = [...at, 'executableSchema'];
  const { local, remote } = executableSchema.executor ?? {};
  if (!local && !remote) {
    findings.push({ code: 'INVALID_GRAPHQL_API', path, message: 'the API has no executor', hint: 'local, remote' });
  }
  if (remote && !remote.upstreamRef?.name) {
    const message = 'the remote executor names no upstream';
    findings.push({ code: 'INVALID_GRAPHQL_API', path: [...path, 'executor', 'remote'], message });
  }
  if (!local) return findings;
  const resolutions = local.resolutions ?? {};
  const schemaDefinition = executableSchema.schemaDefinition ?? '';
  if (schemaDefinition.trim() === '') {
    findings.push({ code: 'INVALID_GRAPHQL_API', path, message: 'the API has no schemaDefinition' });
  }
  return [
    ...findings,
    ...checkNames(schemaDefinition, Object.keys(resolutions), [...path, 'schemaDefinition']),
    ...Object.entries(resolutions).flatMap(([name, one]) =>
      checkResolution(one, [...path, 'executor', 'local', 'resolutions', name]),
    ),
  ];
}

function checkNames(schema: string, names: readonly string[], path: FieldPath): FieldProblem[] {
  const used = new Map<string, number>();
  for (const { 1: name, index } of schema.matchAll(PARTS)) {
    if (name !== undefined && !used.has(name)) used.set(name, index);
  }
  return [...used]
    .filter(([name]) => !names.includes(name))
    .map(([name, index]): FieldProblem => {
      const hint = suggest(name, names);
      const place = textPlace(schema, index);
      const message = `@resolve refers to '${name}', which is not defined`;
      return { code: 'INVALID_GRAPHQL_API', path, place, message, ...(hint !== undefined && { hint }) };
    });
}

function checkResolution({ restResolver, grpcResolver, mockResolver }: Resolution, path: FieldPath): FieldProblem[] {
  if (!restResolver && !grpcResolver && !mockResolver) {
    const hint = 'restResolver, grpcResolver, mockResolver';
    return [{ code: 'INVALID_GRAPHQL_API', path, message: 'the resolution has no resolver', hint }];
  }
  const findings: FieldProblem[] = [];
  const asks = restResolver ?? grpcResolver;
  if (asks && !asks.upstreamRef?.name) {
    findings.push({
      code: 'INVALID_GRAPHQL_API',
      path,
      message: 'the resolver names no upstream',
      hint: 'upstreamRef',
    });
  }
  const target = headerOf(restResolver?.request?.headers, ':path');
  if (target !== undefined && !target.startsWith('/')) {
    findings.push({ code: 'INVALID_GRAPHQL_API', path, message: `':path' has to begin with '/', it is '${target}'` });
  }
  const { serviceName, methodName } = grpcResolver?.requestTransform ?? {};
  if (grpcResolver && (!serviceName || !methodName)) {
    const message = 'requestTransform needs serviceName and methodName';
    findings.push({ code: 'INVALID_GRAPHQL_API', path, message });
  }
  return findings;
}

function headerOf(headers: Readonly<Record<string, string>> | undefined, name: string): string | undefined {
  return Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
}

function checkHashes(hashes: readonly string[], path: FieldPath): FieldProblem[] {
  return hashes.flatMap((text, i): FieldProblem[] =>
    /^[0-9a-f]{64}$/i.test(text)
      ? []
      : [{ code: 'INVALID_GRAPHQL_API', path: [...path, i], message: `'${text}' is not a SHA-256 hash in hex` }],
  );
}

function checkSubschemas(subschemas: readonly { readonly name?: string }[], path: FieldPath): FieldProblem[] {
  if (subschemas.length === 0) {
    return [{ code: 'INVALID_GRAPHQL_API', path, message: 'a stitched API needs at least one subschema' }];
  }
  return subschemas.flatMap(({ name }, i): FieldProblem[] =>
    name ? [] : [{ code: 'INVALID_GRAPHQL_API', path: [...path, 'subschemas', i], message: 'a subschema has no name' }],
  );
}
