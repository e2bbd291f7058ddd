import { dig, entries, isWritten, items } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import { nameOf, type Columns } from './columns.ts';

const RESOLVERS: readonly (readonly [member: string, type: string])[] = [
  ['restResolver', 'REST'],
  ['grpcResolver', 'gRPC'],
  ['mockResolver', 'mock'],
];

/** The columns of `get graphqlapis`. */
export const GRAPHQL_API: Columns = {
  GraphQLApi: nameOf,
  Type: (object) => (isWritten(object) ? describe(object.spec).type : ''),
  Status: (object) => statusCell(object),
  Details: (object) => (isWritten(object) ? describe(object.spec).details : ''),
};

function describe(spec: unknown): { readonly type: string; readonly details: string } {
  if (dig(spec, 'stitchedSchema') !== undefined) {
    const names = items(spec, 'stitchedSchema', 'subschemas').map((part) => String(dig(part, 'name')));
    return { type: 'Stitched', details: names.join('\n') };
  }
  if (dig(spec, 'executableSchema', 'executor', 'remote') !== undefined) {
    const upstream = dig(spec, 'executableSchema', 'executor', 'remote', 'upstreamRef', 'name');
    return { type: 'Remote', details: `upstream: ${String(upstream)}` };
  }
  const resolutions = entries(spec, 'executableSchema', 'executor', 'local', 'resolutions');
  const counts = RESOLVERS.flatMap(([member, type]) => {
    const count = resolutions.filter(([, resolution]) => dig(resolution, member) !== undefined).length;
    return count > 0 ? [`${type} resolvers: ${count}`] : [];
  });
  return { type: 'Local', details: counts.join('\n') };
}
