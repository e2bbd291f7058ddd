import { ExactNumber } from '@edge-gateway/core';
import {
  getNullableType,
  getVariableValues,
  GraphQLError,
  GraphQLID,
  isInputObjectType,
  isInputType,
  isListType,
  isSpecifiedScalarType,
  typeFromAST,
  type GraphQLInputType,
  type GraphQLSchema,
  type VariableDefinitionNode,
  type VariableValues,
} from 'graphql';
import { integerText, isRecord, plainNumber } from '../document/json.ts';
import type { ApiResult, OperationRequest } from './executable-api.ts';
import { inputError } from '../errors/refusal.ts';

const MAX_ERRORS = 5;
/** GraphQL.js writes objects with unknown fields into its messages, which takes a second for the largest request. */
const MAX_UNKNOWN_FIELDS = 100;

/** Returns `undefined` for an operation without variables, and an `ERR_GRAPHQL_VARIABLES` result for invalid ones. */
export function coerceVariables(
  schema: GraphQLSchema,
  { operation, variables }: Pick<OperationRequest, 'operation' | 'variables'>,
): VariableValues | ApiResult | undefined {
  const { variableDefinitions } = operation.definition;
  if (!variableDefinitions?.length) return undefined;
  const options = { maxErrors: MAX_ERRORS, hideSuggestions: true };
  const coerced = () => {
    try {
      const exact = exactVariables(schema, variableDefinitions, variables);
      return getVariableValues(schema, variableDefinitions, exact, options);
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] };
      throw error;
    }
  };
  const { errors, variableValues } = coerced();
  if (!errors) return variableValues;
  return { errors: errors.map((error) => inputError(error, 'ERR_GRAPHQL_VARIABLES')) };
}

/** Returns variables whose numbers fit the types of GraphQL; custom scalars keep all digits. */
function exactVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: OperationRequest['variables'],
): OperationRequest['variables'] {
  let changed: Record<string, unknown> | undefined;
  for (const { variable, type: written } of definitions) {
    const name = variable.name.value;
    const type = typeFromAST(schema, written);
    if (!Object.hasOwn(variables, name) || !isInputType(type)) continue;
    const value = exactInput(type, variables[name]);
    if (value !== variables[name]) (changed ??= { ...variables })[name] = value;
  }
  return changed ?? variables;
}

/** Returns the same value if nothing in it changes. Throws a `GraphQLError` for objects with too many unknown fields. */
function exactInput(type: GraphQLInputType, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = getNullableType(type);
  if (isListType(inner)) {
    const item = inner.ofType as GraphQLInputType;
    if (!Array.isArray(value)) return exactInput(item, value);
    const items = value.map((each) => exactInput(item, each));
    return items.some((each, index) => each !== value[index]) ? items : value;
  }
  if (value instanceof ExactNumber) {
    if (inner === GraphQLID) return integerText(value);
    return isSpecifiedScalarType(inner) ? plainNumber(value) : value;
  }
  if (!isInputObjectType(inner) || !isRecord(value)) return value;
  let changed: Record<string, unknown> | undefined;
  const fields = Object.values(inner.getFields());
  if (Object.keys(value).length > fields.length + MAX_UNKNOWN_FIELDS) {
    throw new GraphQLError(`A value of type "${inner.name}" has more than ${MAX_UNKNOWN_FIELDS} unknown fields.`);
  }
  for (const field of fields) {
    if (!Object.hasOwn(value, field.name)) continue;
    const exact = exactInput(field.type, value[field.name]);
    if (exact !== value[field.name]) (changed ??= { ...value })[field.name] = exact;
  }
  return changed ?? value;
}
