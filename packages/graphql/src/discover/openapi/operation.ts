import type { Resolution } from '@edge-gateway/core/schema';
import { compileRestTemplate } from '../../resolvers/rest/rest-request.ts';
import type { ApiDraft } from '../api-draft.ts';
import { toGraphQLName, toTypeName, uniqueNames } from '../names.ts';
import { isRecord } from '../../document/json.ts';
import type { Document } from './document.ts';
import { hasContent, jsonContent } from './content.ts';
import { whereOf, type Operation } from './operations.ts';
import { declaredParameters, withheld } from './parameters.ts';
import { serializedParameter } from './parameter-template.ts';
import { textOf, type Json, type Placed } from './values.ts';
import type { TypeOf } from './types.ts';

interface OperationContext {
  readonly document: Document;
  readonly draft: ApiDraft;
  readonly typeOf: TypeOf;
  readonly basePath: string;
  readonly grantedHeaders: ReadonlySet<string>;
}

interface Argument {
  readonly name: string;
  readonly type: string;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly template: string;
}

/** Adds the field of an operation. Throws an `Error` that says why an operation is unsupported. */
export function addField(operation: Operation, context: OperationContext): void {
  const { method, path } = operation;
  const name = toGraphQLName(textOf(operation.placed.value['operationId']) ?? `${method} ${path}`);
  if (name === '') throw new Error('the operation has no valid GraphQL name');
  const args: Argument[] = [];
  const parameters = parametersOf(operation, { context, args, owner: name });
  const body = bodyOf(operation, { context, args, owner: name });
  const type = responseType(operation, context, name);
  const request = requestOf(operation, parameters, { basePath: context.basePath, body });
  // An invalid request would make the whole API invalid.
  compileRestTemplate({ request });
  const description = textOf(operation.placed.value['summary']) ?? textOf(operation.placed.value['description']);
  const { draft } = context;
  draft.addOperation(
    method === 'get' ? 'Query' : 'Mutation',
    { name, type, args, description },
    { restResolver: { upstreamRef: draft.upstream, request } },
  );
}

interface Taking {
  readonly context: OperationContext;
  readonly args: Argument[];
  /** Name of the field, for the names of types without one. */
  readonly owner: string;
}

/** Adds an argument for each parameter; those of the operation come before those of its path. */
function parametersOf(operation: Operation, { context, args, owner }: Taking): Parameter[] {
  const { document, draft, typeOf } = context;
  const unique = uniqueNames();
  const found: Parameter[] = [];
  for (const declared of declaredParameters(operation, document)) {
    const { place, name, value } = declared;
    const problem = withheld(place, name, context.grantedHeaders);
    if (problem !== undefined) {
      const where = whereOf(operation);
      draft.skipped.push({ where, reason: `${place} parameter '${name}': ${problem}`, isWithheld: true });
      continue;
    }
    const argument = unique(toGraphQLName(name) || 'value');
    const { schema, template, problem: ignored } = serializedParameter(declared, document);
    if (ignored !== undefined) draft.skipped.push({ where: whereOf(operation), reason: ignored });
    const type = typeOf(schema, `${toTypeName(owner)}${toTypeName(name)}`, 'input');
    const required = place === 'path' || value['required'] === true;
    args.push({ name: argument, type: required ? `${type}!` : type });
    found.push({ in: place, name, template: template(argument) });
  }
  if (!draft.takeFields(args.length, operation.placed.pointer)) throw new Error('it has too many arguments');
  return found;
}

/** Adds the argument `input` for a JSON body. Throws if the operation requires a body that is not JSON. */
function bodyOf(operation: Operation, { context, args, owner }: Taking): string | undefined {
  const written = operation.placed.value['requestBody'];
  if (written === undefined || operation.method === 'get') return undefined;
  const { value, pointer } = context.document.follow(written, `${operation.placed.pointer}/requestBody`);
  const schema = jsonContent(context.document, value, pointer);
  if (!schema) {
    if (value['required'] === true) throw new Error('its body is not JSON');
    return undefined;
  }
  const type = context.typeOf(schema, `${toTypeName(owner)}Body`, 'input');
  const taken = new Set(args.map(({ name }) => name));
  const name = taken.has('input') ? 'bodyInput' : 'input';
  args.push({ name, type: value['required'] === true ? `${type}!` : type });
  return `{$args.${name}}`;
}

/** Returns the type of the first successful response; `JSON` if it has no schema. */
function responseType({ placed }: Operation, { document, typeOf }: OperationContext, owner: string): string {
  const responses = isRecord(placed.value['responses']) ? placed.value['responses'] : {};
  const code = successOf(responses);
  const any: Placed = { value: {}, pointer: `${placed.pointer}/responses` };
  if (code === undefined) return typeOf(any, owner, 'output');
  const response = document.follow(responses[code], `${placed.pointer}/responses/${code}`);
  const schema = jsonContent(document, response.value, response.pointer);
  if (!schema && hasContent(response.value)) throw new Error('its response is not JSON');
  return typeOf(schema ?? any, `${toTypeName(owner)}Result`, 'output');
}

/** The status of a successful response by responses: operations may refer to the same long list. */
const successes = new WeakMap<Json, { readonly code: string | undefined }>();

function successOf(responses: Json): string | undefined {
  let found = successes.get(responses);
  if (!found) {
    const codes = Object.keys(responses);
    const [first] = codes.filter((each) => /^2(\d\d|XX)$/i.test(each)).sort();
    successes.set(responses, (found = { code: first ?? codes.find((each) => each === 'default') }));
  }
  return found.code;
}

/** Returns the request to the upstream, with templates for the arguments. */
function requestOf(
  { method, path }: Operation,
  parameters: readonly Parameter[],
  { basePath, body }: { readonly basePath: string; readonly body: string | undefined },
): NonNullable<Resolution['restResolver']>['request'] {
  const headers: Record<string, string> = { ':method': method.toUpperCase() };
  const queryParams: Record<string, string> = {};
  const inPath = new Map(parameters.filter((each) => each.in === 'path').map((each) => [each.name, each.template]));
  const filled = path.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const template = inPath.get(name);
    if (template === undefined) throw new Error(`the path parameter '${name}' is not declared`);
    return template;
  });
  if (!filled.startsWith('/')) throw new Error('the path does not start with /');
  headers[':path'] = `${basePath}${filled}`;
  for (const parameter of parameters) {
    if (parameter.in === 'query') queryParams[parameter.name] = parameter.template;
    if (parameter.in === 'header') headers[parameter.name.toLowerCase()] = parameter.template;
  }
  return {
    headers,
    ...(Object.keys(queryParams).length > 0 && { queryParams }),
    ...(body !== undefined && { body }),
  };
}
