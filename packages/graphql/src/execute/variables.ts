import { getVariableValues, type GraphQLSchema, type VariableValues } from 'graphql';
import type { ApiResult, OperationRequest } from './executable-api.ts';
import { inputError } from '../errors/refusal.ts';

const MAX_ERRORS = 5;

/** Returns `undefined` for an operation without variables, and an `ERR_GRAPHQL_VARIABLES` result for invalid ones. */
export function coerceVariables(
  schema: GraphQLSchema,
  { operation, variables }: Pick<OperationRequest, 'operation' | 'variables'>,
): VariableValues | ApiResult | undefined {
  const { variableDefinitions } = operation.definition;
  if (!variableDefinitions?.length) return undefined;
  const options = { maxErrors: MAX_ERRORS, hideSuggestions: true };
  const { errors, variableValues } = getVariableValues(schema, variableDefinitions, variables, options);
  if (!errors) return variableValues;
  return { errors: errors.map((error) => inputError(error, 'ERR_GRAPHQL_VARIABLES')) };
}
