import { buildSchema } from 'graphql';
import type { Resolution } from '@edge-gateway/core/schema';
import { firstOf, roomForFields, type DiscoveryBounds } from '../bounds.ts';
import type { Discovery, Skipped, UpstreamName } from '../discovered-api.ts';
import { uniqueNames } from '../names.ts';
import { createSchemaText, type FieldText } from '../schema-text.ts';
import { isObject, listOf, openDocument, textOf, type Document, type Json } from './document.ts';
import { toField, type Operation } from './operation.ts';
import { createTypes } from './types.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

interface OpenApiOptions extends DiscoveryBounds {
  readonly grantedHeaders?: ReadonlySet<string>;
}

/**
 * Creates an API with a field per operation of an OpenAPI 3 document: `get` under `Query`, the others under `Mutation`.
 * Unsupported operations are skipped. Throws if the document is not OpenAPI 3, or no operation is left.
 */
export function discoverOpenApi(upstream: UpstreamName, source: unknown, options: OpenApiOptions): Discovery {
  const document = openDocument(source);
  const skipped: Skipped[] = [];
  const text = createSchemaText();
  const takeFields = roomForFields(options.fields, skipped);
  const types = createTypes(document, text, { skipped, takeFields });
  const context = {
    takeFields,
    document,
    types,
    upstream,
    skipped,
    grantedHeaders: options.grantedHeaders ?? new Set(),
    basePath: basePathOf(document.root),
    unique: { Query: uniqueNames(), Mutation: uniqueNames() },
  };
  const fields: Record<'Query' | 'Mutation', FieldText[]> = { Query: [], Mutation: [] };
  const resolutions: Record<string, Resolution> = {};
  const operations = operationsOf(document, skipped);
  for (const operation of firstOf(operations, options.operations, { skipped, where: '#/paths' })) {
    try {
      const { root, field, resolution } = toField(operation, context);
      fields[root].push(field);
      resolutions[field.resolve!] = resolution;
    } catch (error) {
      skipped.push({ where: `${operation.method.toUpperCase()} ${operation.path}`, reason: (error as Error).message });
    }
  }
  if (Object.keys(resolutions).length === 0) throw new Error('the document has no supported operation');
  if (fields.Query.length === 0) Object.assign(resolutions, nameOfUpstream(upstream, fields.Query));
  text.type('type', 'Query', fields.Query);
  if (fields.Mutation.length > 0) text.type('type', 'Mutation', fields.Mutation);
  if (types.usesJson) text.scalar('JSON');
  return { spec: specOf(String(text), resolutions), skipped };
}

/** Returns a local API. Throws if the text is not a valid schema. */
export function specOf(schemaDefinition: string, resolutions: Readonly<Record<string, Resolution>>): Discovery['spec'] {
  buildSchema(`directive @resolve(name: String) on FIELD_DEFINITION\n${schemaDefinition}`);
  return { executableSchema: { schemaDefinition, executor: { local: { enableIntrospection: true, resolutions } } } };
}

/** GraphQL requires a query: if all operations are mutations, one returns the name of the upstream. */
export function nameOfUpstream(upstream: UpstreamName, query: FieldText[]): Record<string, Resolution> {
  query.push({ name: 'upstreamName', type: 'String', resolve: 'Query|upstreamName' });
  return { 'Query|upstreamName': { mockResolver: { syncResponse: upstream.name } } };
}

function operationsOf(document: Document, skipped: Skipped[]): Operation[] {
  const paths = isObject(document.root['paths']) ? document.root['paths'] : {};
  return Object.entries(paths).flatMap(([path, item]) => {
    if (path.startsWith('x-')) return [];
    try {
      const { value, pointer } = document.follow(item, `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`);
      const shared = listOf(value['parameters']);
      return METHODS.flatMap((method): Operation[] => {
        const operation = value[method];
        if (!isObject(operation)) return [];
        return [{ path, method, shared, placed: { value: operation, pointer: `${pointer}/${method}` } }];
      });
    } catch (error) {
      skipped.push({ where: path, reason: (error as Error).message });
      return [];
    }
  });
}

/** Returns the path of the first server, with the defaults of its variables. */
function basePathOf(root: Json): string {
  const [server] = listOf(root['servers']);
  if (!isObject(server)) return '';
  const variables = isObject(server['variables']) ? server['variables'] : {};
  const url = (textOf(server['url']) ?? '').replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(variable) ? String(variable['default'] ?? '') : '';
  });
  const parsed = URL.canParse(url, 'http://upstream') ? new URL(url, 'http://upstream') : undefined;
  return parsed ? parsed.pathname.replace(/\/+$/, '').replaceAll('{', '%7B') : '';
}
