import { canonicalName, isHeaderName, isIdentityHeader } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import { compileRestTemplate } from '../../resolvers/rest/rest-request.ts';
import type { ApiDraft } from '../api-draft.ts';
import { toGraphQLName, toTypeName, uniqueNames } from '../names.ts';
import { isRecord } from '../../document/json.ts';
import { listOf, textOf, type Document, type Json, type Placed } from './document.ts';
import type { TypeOf } from './types.ts';

export interface Operation {
  readonly path: string;
  readonly method: string;
  readonly placed: Placed;
  readonly shared: readonly unknown[];
}

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
  readonly argument: string;
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
  const found = new Map<string, Parameter>();
  const written = [...listOf(operation.placed.value['parameters']), ...operation.shared];
  for (const [index, each] of written.entries()) {
    const { value, pointer } = document.follow(each, `${operation.placed.pointer}/parameters/${index}`);
    const name = textOf(value['name']);
    const place = textOf(value['in']);
    if (name === undefined || !['path', 'query', 'header', 'cookie'].includes(place ?? '')) continue;
    if (found.has(`${place} ${name}`) || (place === 'header' && IGNORED.test(name))) continue;
    const problem = withheld(place!, name, context);
    if (problem !== undefined) {
      const where = `${operation.method.toUpperCase()} ${operation.path}`;
      draft.skipped.push({ where, reason: `${place} parameter '${name}': ${problem}`, isWithheld: true });
      continue;
    }
    const argument = unique(toGraphQLName(name) || 'value');
    const schema = {
      value: isRecord(value['schema']) ? value['schema'] : { type: 'string' },
      pointer: `${pointer}/schema`,
    };
    const type = typeOf(schema, `${toTypeName(owner)}${toTypeName(name)}`, 'input');
    const required = place === 'path' || value['required'] === true;
    args.push({ name: argument, type: required ? `${type}!` : type });
    found.set(`${place} ${name}`, { in: place!, name, argument });
  }
  if (!draft.takeFields(args.length, operation.placed.pointer)) throw new Error('it has too many arguments');
  return [...found.values()];
}

/** Headers that are not parameters (OpenAPI 3, Parameter Object); `authorization` is still reported. */
const IGNORED = /^(accept|content-type)$/i;
/** Returns why a parameter must not become an argument; `undefined` if it may. */
function withheld(place: string, name: string, { grantedHeaders }: OperationContext): string | undefined {
  if (place === 'cookie') return 'arguments cannot set cookies';
  if (place !== 'header') return undefined;
  if (!isHeaderName(name)) return 'invalid header name';
  if (!isIdentityHeader(name) && !grantedHeaders.has(canonicalName(name))) return undefined;
  return 'only the gateway may set this header';
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

/** Returns the schema of a JSON body; `undefined` if there is none. */
function jsonContent(document: Document, value: Json, pointer: string): Placed | undefined {
  const content = isRecord(value['content']) ? value['content'] : {};
  const types = Object.keys(content);
  const json =
    types.find((type) => /^application\/json\b/i.test(type)) ?? types.find((type) => /[/+]json\b|^\*\/\*$/i.test(type));
  if (json === undefined) return undefined;
  const media = document.follow(content[json], `${pointer}/content/${json}`);
  const schema = media.value['schema'];
  return { value: isRecord(schema) ? schema : {}, pointer: `${media.pointer}/schema` };
}

/** Returns the type of the first successful response; `JSON` if it has no schema. */
function responseType({ placed }: Operation, { document, typeOf }: OperationContext, owner: string): string {
  const responses = isRecord(placed.value['responses']) ? placed.value['responses'] : {};
  const codes = Object.keys(responses);
  const code = codes.filter((each) => /^2(\d\d|XX)$/i.test(each)).sort()[0] ?? codes.find((each) => each === 'default');
  const any: Placed = { value: {}, pointer: `${placed.pointer}/responses` };
  if (code === undefined) return typeOf(any, owner, 'output');
  const response = document.follow(responses[code], `${placed.pointer}/responses/${code}`);
  const schema = jsonContent(document, response.value, response.pointer);
  const described = isRecord(response.value['content']) && Object.keys(response.value['content']).length > 0;
  if (!schema && described) throw new Error('its response is not JSON');
  return typeOf(schema ?? any, `${toTypeName(owner)}Result`, 'output');
}

/** Returns the request to the upstream, with templates for the arguments. */
function requestOf(
  { method, path }: Operation,
  parameters: readonly Parameter[],
  { basePath, body }: { readonly basePath: string; readonly body: string | undefined },
): NonNullable<Resolution['restResolver']>['request'] {
  const headers: Record<string, string> = { ':method': method.toUpperCase() };
  const queryParams: Record<string, string> = {};
  const inPath = new Map(parameters.filter((each) => each.in === 'path').map((each) => [each.name, each.argument]));
  const filled = path.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const argument = inPath.get(name);
    if (argument === undefined) throw new Error(`the path parameter '${name}' is not declared`);
    return `{$args.${argument}}`;
  });
  if (!filled.startsWith('/')) throw new Error('the path does not start with /');
  headers[':path'] = `${basePath}${filled}`;
  for (const parameter of parameters) {
    if (parameter.in === 'query') queryParams[parameter.name] = `{$args.${parameter.argument}}`;
    if (parameter.in === 'header') headers[parameter.name.toLowerCase()] = `{$args.${parameter.argument}}`;
  }
  return {
    headers,
    ...(Object.keys(queryParams).length > 0 && { queryParams }),
    ...(body !== undefined && { body }),
  };
}
