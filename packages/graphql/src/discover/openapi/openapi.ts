import type { ResourceRef } from '@edge-gateway/core';
import { ApiDraft } from '../api-draft.ts';
import type { Discovery, DiscoveryBounds, Skipped } from '../discovered-api.ts';
import { isRecord } from '../../document/json.ts';
import { listOf, openDocument, textOf, type Document, type Json } from './document.ts';
import { addField, type Operation } from './operation.ts';
import { createTypes } from './types.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

interface OpenApiOptions extends DiscoveryBounds {
  readonly grantedHeaders?: ReadonlySet<string>;
}

/** Creates an API with a field per operation of an OpenAPI 3 document: `get` under `Query`, the others under `Mutation`. */
export function discoverOpenApi(upstream: ResourceRef, source: unknown, options: OpenApiOptions): Discovery {
  const document = openDocument(source);
  const draft = new ApiDraft(upstream, options);
  const { skipped } = draft;
  const { grantedHeaders = new Set() } = options;
  const context = {
    document,
    draft,
    grantedHeaders,
    typeOf: createTypes(document, draft),
    basePath: basePathOf(document.root),
  };
  for (const operation of draft.firstOf(operationsOf(document, skipped), '#/paths')) {
    try {
      addField(operation, context);
    } catch (error) {
      skipped.push({ where: `${operation.method.toUpperCase()} ${operation.path}`, reason: (error as Error).message });
    }
  }
  return { spec: { executableSchema: draft.finish('the document has no supported operation') }, skipped };
}

function operationsOf(document: Document, skipped: Skipped[]): Operation[] {
  const paths = isRecord(document.root['paths']) ? document.root['paths'] : {};
  return Object.entries(paths).flatMap(([path, item]) => {
    if (path.startsWith('x-')) return [];
    try {
      const { value, pointer } = document.follow(item, `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`);
      const shared = listOf(value['parameters']);
      return METHODS.flatMap((method): Operation[] => {
        const operation = value[method];
        if (!isRecord(operation)) return [];
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
  if (!isRecord(server)) return '';
  const variables = isRecord(server['variables']) ? server['variables'] : {};
  const url = (textOf(server['url']) ?? '').replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isRecord(variable) ? String(variable['default'] ?? '') : '';
  });
  const parsed = URL.canParse(url, 'http://upstream') ? new URL(url, 'http://upstream') : undefined;
  return parsed ? parsed.pathname.replace(/\/+$/, '').replaceAll('{', '%7B') : '';
}
