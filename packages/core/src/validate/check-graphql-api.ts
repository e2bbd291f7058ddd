import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import { textPlace } from '../parse/text-place.ts';
import type { GraphQLApiSpec, Resolution } from '../schema/kind/graphql-api.ts';
import { suggest } from '../syntax/did-you-mean.ts';
import { each, fields, reporterOf, type Check } from './check.ts';

/** Matches strings and comments of a schema definition, which contain no directives, and `@resolve` with its name. */
const PARTS =
  /"""(?:\\"""|[^"]|"(?!""))*"""|"(?:\\.|[^"\\\n])*"|#[^\n\r]*|@resolve\b\s*\(\s*name\s*:\s*"((?:\\.|[^"\\\n])*)"/g;
const invalid = reporterOf('INVALID_GRAPHQL_API');

/** Returns problems of a GraphQLApi that would make every request fail. */
export const checkGraphQLApi: Check<GraphQLApiSpec> = (spec, at) =>
  fields(spec, at, {
    allowedQueryHashes: (hashes, path) =>
      each(hashes, path, (text, place) =>
        invalid(!/^[0-9a-f]{64}$/i.test(text) && `'${text}' is not a SHA-256 hash in hex`, place),
      ),
    stitchedSchema: ({ subschemas = [] }, path) => [
      ...invalid(subschemas.length === 0 && 'a stitched API needs at least one subschema', path),
      ...each(subschemas, [...path, 'subschemas'], ({ name }, place) =>
        invalid(!name && 'a subschema has no name', place),
      ),
    ],
    executableSchema: checkExecutable,
  });

const checkExecutable: Check<NonNullable<GraphQLApiSpec['executableSchema']>> = (executable, at) => {
  const { executor = {}, schemaDefinition = '' } = executable;
  const { local, remote } = executor;
  const path = [...at, 'executor'];
  const findings = [
    ...invalid(!local && !remote && 'the API has no executor', at, { hint: 'local, remote' }),
    ...invalid(remote && !remote.upstreamRef?.name && 'the remote executor names no upstream', [...path, 'remote']),
  ];
  if (!local) return findings;
  const resolutions = local.resolutions ?? {};
  return [
    ...findings,
    ...invalid(schemaDefinition.trim() === '' && 'the API has no schemaDefinition', at),
    ...checkNames(schemaDefinition, Object.keys(resolutions), [...at, 'schemaDefinition']),
    ...Object.entries(resolutions).flatMap(([name, one]) =>
      checkResolution(one, [...path, 'local', 'resolutions', name]),
    ),
  ];
};

function checkNames(schema: string, names: readonly string[], path: FieldPath): FieldProblem[] {
  const used = new Map<string, number>();
  for (const { 1: name, index } of schema.matchAll(PARTS)) {
    if (name !== undefined && !used.has(name) && !names.includes(name)) used.set(name, index);
  }
  return [...used].flatMap(([name, index]) => {
    const hint = suggest(name, names);
    const more = { place: textPlace(schema, index), ...(hint !== undefined && { hint }) };
    return invalid(`@resolve refers to '${name}', which is not defined`, path, more);
  });
}

const checkResolution: Check<Resolution> = ({ restResolver, grpcResolver, mockResolver }, path) => {
  const asks = restResolver ?? grpcResolver;
  const target = headerOf(restResolver?.request?.headers, ':path');
  const isRelative = target !== undefined && !target.startsWith('/');
  const { serviceName, methodName } = grpcResolver?.requestTransform ?? {};
  return [
    ...invalid(!asks && !mockResolver && 'the resolution has no resolver', path, {
      hint: 'restResolver, grpcResolver, mockResolver',
    }),
    ...invalid(asks && !asks.upstreamRef?.name && 'the resolver names no upstream', path, { hint: 'upstreamRef' }),
    ...invalid(isRelative && `':path' must begin with '/', not '${target}'`, path),
    ...invalid(
      grpcResolver && (!serviceName || !methodName) && 'requestTransform needs serviceName and methodName',
      path,
    ),
  ];
};

function headerOf(headers: Readonly<Record<string, string>> | undefined, name: string): string | undefined {
  return Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
}
