import { Kind, print, separateOperations, validate, type OperationDefinitionNode } from 'graphql';
import type { ApiResult, OperationRequest } from '../execute/executable-api.ts';
import type { Operation } from '../document/documents.ts';
import { refusal } from '../errors/refusal.ts';
import type { Subschema } from './subschema.ts';

const ONE_API = 'All fields of a subscription must belong to one API: results of subscriptions are not joined.';

/** Forwards a subscription to the first API that has all of its fields. Returns an error if there is none. */
export async function subscribeAt(
  subschemas: readonly Subschema[],
  request: OperationRequest,
): Promise<AsyncIterable<ApiResult> | ApiResult> {
  const operation = alone(request.operation);
  for (const { api } of subschemas) {
    if (!api.subscribe || validate(api.schema, operation.document).length > 0) continue;
    return api.subscribe({ ...request, operation, extensions: {} });
  }
  return { errors: refusal('ERR_GRAPHQL_OPERATION', ONE_API).errors };
}

/** Returns the operation without the others of its document, which may be invalid for this API. */
function alone({ document, definition }: Operation): Operation {
  const separated = separateOperations(document)[definition.name?.value ?? '']!;
  const found = separated.definitions.find(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION,
  );
  return { document: separated, definition: found ?? definition, text: print(separated), name: undefined };
}
