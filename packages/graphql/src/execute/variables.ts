import { getVariableValues, type GraphQLSchema, type VariableValues } from 'graphql';
import type { ApiResult, OperationRequest } from '../api/executable-api.ts';
import { inputMessage } from '../api/input-message.ts';

const MAX_ERRORS = 5;

/**
 * Coerces the variables of a request to the types of a schema. Returns `undefined` for an operation without variables, and a result
 * with `ERR_GRAPHQL_VARIABLES` if they are invalid.
 */
export function coerceVariables(
  schema: GraphQLSchema,
  { operation, variables }: Pick<OperationRequest, 'operation' | 'variables'>,
): VariableValues | ApiResult | undefined {
  const { variableDefinitions } = operation.definition;
  if (!variableDefinitions?.length) return undefined;
  const options = { maxErrors: MAX_ERRORS, hideSuggestions: true };
  const { errors, variableValues } = getVariableValues(schema, variableDefinitions, variables, options);
  if (!errors) return variableValues;
  return {
    errors: errors.map((error) => ({
      message: inputMessage(error),
      ...(error.locations && { locations: error.locations }),
      extensions: { code: 'ERR_GRAPHQL_VARIABLES' },
    })),
  };
}
