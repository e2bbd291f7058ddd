import { dig, entries, isWritten, items, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';

const RESOLVERS: readonly (readonly [member: string, type: string])[] = [
  ['restResolver', 'REST'],
  ['grpcResolver', 'gRPC'],
  ['mockResolver', 'mock'],
];

/** The table of `get graphqlapis`: a row per API. */
export function graphqlApiTable(objects: readonly StatusObject[]): TableData {
  const rows = objects.map((object) => {
    const { type, details } = isWritten(object) ? describe(object.spec) : { type: '', details: '' };
    return [object.metadata.name, type, statusCell(object), details];
  });
  return { columns: ['GraphQLApi', 'Type', 'Status', 'Details'], rows };
}

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
