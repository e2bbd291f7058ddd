import {
  GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  parse,
  recommendedRules,
  specifiedRules,
  validate,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Limits } from './limits.ts';
import { inputError, refusal, type Refusal } from '../errors/refusal.ts';
import { sizeProblem } from './check-size.ts';

/**
 * One operation of a document that is valid and within the limits. The same text returns the same object while it is
 * cached, so that plans and rewritten documents can be kept in a `WeakMap` by it.
 */
export interface Operation {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  /** The document as the client wrote it. */
  readonly text: string;
  /** `operationName` of the request; `undefined` if it is missing. */
  readonly name: string | undefined;
}

/** Maximum number of cached documents of one API, and of characters of all of them. */
export const MAX_DOCUMENTS = 1000;
export const MAX_DOCUMENT_CHARACTERS = 4 * 1024 * 1024;
const MAX_ERRORS = 5;

interface RefusedDocument extends Refusal {
  /** For the statistics. */
  readonly problem: 'parse' | 'invalid';
}

interface Read {
  readonly document: DocumentNode;
  readonly operations: Map<string | undefined, Operation | Refusal>;
}

export function createDocuments(api: { schema: GraphQLSchema; introspection: boolean }, limits: Limits) {
  const known = new LRUCache<string, Read | RefusedDocument>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_DOCUMENT_CHARACTERS,
    // The large document of one client must not evict the small ones of others.
    maxEntrySize: MAX_DOCUMENT_CHARACTERS / 64,
    sizeCalculation: (_read, text) => text.length + 1,
  });
  const rules = [...new Set([...specifiedRules, ...recommendedRules])];
  if (!api.introspection) rules.push(NoSchemaIntrospectionCustomRule);

  function read(text: string): Read | RefusedDocument {
    const document = parsed(text, limits);
    if ('problem' in document) return document;
    const problem = sizeProblem(document, limits);
    if (problem !== undefined) return { ...refusal('ERR_GRAPHQL_LIMIT', problem), problem: 'invalid' };
    const errors = validate(api.schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: true });
    if (errors.length === 0) return { document, operations: new Map() };
    return {
      code: 'ERR_GRAPHQL_DOCUMENT',
      errors: errors.map((error) => inputError(error, 'ERR_GRAPHQL_DOCUMENT')),
      problem: 'invalid',
    };
  }

  let schema = api.schema;
  return {
    /** Returns the operation to execute, or a refusal if the document is invalid or too large, or the operation is ambiguous. */
    operation(text: string, name: string | undefined): Operation | Refusal | RefusedDocument {
      if (schema !== api.schema) known.clear();
      schema = api.schema;
      let found = known.get(text);
      if (!found) known.set(text, (found = read(text)));
      if ('problem' in found) return found;
      let operation = found.operations.get(name);
      if (operation) return operation;
      operation = operationOf(found.document, text, name);
      if ('document' in operation) found.operations.set(name, operation);
      return operation;
    },
  };
}

function parsed(text: string, { maxTokens, maxDocumentLength }: Limits): DocumentNode | RefusedDocument {
  if (maxDocumentLength > 0 && text.length > maxDocumentLength) {
    const message = `The document has more than ${maxDocumentLength} characters.`;
    return { ...refusal('ERR_GRAPHQL_LIMIT', message), problem: 'parse' };
  }
  try {
    return parse(text, maxTokens > 0 ? { maxTokens } : {});
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    if (error.message.includes('tokens. Parsing aborted')) {
      const message = `The document has more than ${maxTokens} tokens.`;
      return { ...refusal('ERR_GRAPHQL_LIMIT', message), problem: 'parse' };
    }
    return { code: 'ERR_GRAPHQL_DOCUMENT', errors: [inputError(error, 'ERR_GRAPHQL_DOCUMENT')], problem: 'parse' };
  }
}

function operationOf(document: DocumentNode, text: string, name: string | undefined): Operation | Refusal {
  const operations = document.definitions.filter(
    (one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION,
  );
  const fitting = name === undefined ? operations : operations.filter((one) => one.name?.value === name);
  const [definition, another] = fitting;
  if (!definition) return refusal('ERR_GRAPHQL_OPERATION', 'The document has no operation of this name.');
  if (another)
    return refusal('ERR_GRAPHQL_OPERATION', 'operationName is required if the document has several operations.');
  return { document, definition, text, name };
}
