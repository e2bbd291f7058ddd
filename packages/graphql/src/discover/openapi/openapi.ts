import type { ResourceRef } from '@edge-gateway/core';
import { ApiDraft } from '../api-draft.ts';
import type { Discovery, DiscoveryBounds } from '../discovered-api.ts';
import { openDocument } from './document.ts';
import { addField } from './operation.ts';
import { basePathOf, operationsOf, whereOf } from './operations.ts';
import { createTypes } from './types.ts';

interface OpenApiOptions extends DiscoveryBounds {
  readonly grantedHeaders?: ReadonlySet<string>;
}

/** Creates an API with a field per operation of an OpenAPI 3 or Swagger 2 document: `get` under `Query`, the others under `Mutation`. */
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
      skipped.push({ where: whereOf(operation), reason: (error as Error).message });
    }
  }
  return { spec: { executableSchema: draft.finish('the document has no supported operation') }, skipped };
}
