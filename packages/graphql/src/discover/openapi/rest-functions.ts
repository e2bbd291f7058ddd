import { templateProblems } from '@edge-gateway/core';
import type { ServiceSpec, TransformationTemplate } from '@edge-gateway/core/schema';
import { isRecord } from '../../document/json.ts';
import type { DiscoveryBounds, Skipped } from '../discovered-api.ts';
import { toGraphQLName, uniqueNames } from '../names.ts';
import { jsonContent } from './content.ts';
import { openDocument, type Document } from './document.ts';
import { basePathOf, operationsOf, whereOf, type Operation } from './operations.ts';
import { declaredParameters, withheld } from './parameters.ts';
import { textOf } from './values.ts';

interface FunctionOptions extends Pick<DiscoveryBounds, 'operations'> {
  readonly grantedHeaders: ReadonlySet<string>;
}

/** Functions of a service, and the operations that are not among them. */
export interface DiscoveredFunctions {
  readonly serviceSpec: ServiceSpec | undefined;
  readonly skipped: readonly Skipped[];
}

/** The variable of a template that holds what separates the next query parameter from what is before it. */
const GLUE = 'query_glue';
/** What a path of a template contains besides parameters. Braces would begin a template. */
const LITERAL = /^[-._~!$&'()*+,;=:@%/0-9A-Za-z]*$/;
/** Characters of all templates: operations may refer to the same long lists of parameters. */
const MAX_TEXT = 16 * 1024 * 1024;
/** Names that are no variables of the template language. */
const RESERVED = [GLUE, 'and', 'false', 'if', 'in', 'is', 'not', 'null', 'or', 'true'];

/** Creates a function for each operation of an OpenAPI 3 or Swagger 2 document: a template that makes a request of it. */
export function discoverFunctions(source: unknown, options: FunctionOptions): DiscoveredFunctions {
  const document = openDocument(source);
  const skipped: Skipped[] = [];
  const unique = uniqueNames();
  const transformations: [string, TransformationTemplate][] = [];
  const all = operationsOf(document, skipped);
  if (all.length > options.operations) {
    const reason = `there are ${all.length} operations; the first ${options.operations} are functions`;
    skipped.push({ where: '#/paths', reason, isCut: true });
  }
  const context = { document, basePath: basePathOf(document.root), options };
  let left = MAX_TEXT;
  for (const operation of all.slice(0, options.operations)) {
    try {
      const template = templateOf(operation, context);
      left -= lengthOf(template);
      if (left < 0) {
        const reason = `this function and later ones are left out: all of them have more than ${MAX_TEXT} characters`;
        skipped.push({ where: whereOf(operation), reason, isCut: true });
        break;
      }
      transformations.push([unique(nameOf(operation)), template]);
    } catch (error) {
      skipped.push({ where: whereOf(operation), reason: (error as Error).message });
    }
  }
  const rest = transformations.length > 0 && { rest: { transformations: Object.fromEntries(transformations) } };
  return { serviceSpec: rest || undefined, skipped };
}

function lengthOf({ headers = {} }: TransformationTemplate): number {
  return Object.entries(headers).reduce((sum, [name, { text = '' }]) => sum + name.length + text.length, 0);
}

/** Returns the `operationId`, otherwise method and path: `get.pets.id`. */
function nameOf({ placed, method, path }: Operation): string {
  const name = textOf(placed.value['operationId'])?.trim();
  return (name || `${method}${path.replaceAll('/', '.').replaceAll(/[{}]/g, '')}`.toLowerCase()).slice(0, 200);
}

interface FunctionContext {
  readonly document: Document;
  readonly basePath: string;
  readonly options: FunctionOptions;
}

/** Throws an `Error` that says why an operation is unsupported. */
function templateOf(operation: Operation, { document, basePath, options }: FunctionContext): TransformationTemplate {
  const unique = uniqueNames(RESERVED);
  const variables = new Map<string, string>();
  const query: [string, string][] = [];
  const headers: Record<string, { text: string }> = { ':method': { text: operation.method.toUpperCase() } };
  for (const { place, name } of declaredParameters(operation, document)) {
    if (withheld(place, name, options.grantedHeaders) !== undefined) continue;
    const variable = unique(toGraphQLName(name) || 'value');
    if (place === 'path') variables.set(name, variable);
    if (place === 'query') query.push([encodeURIComponent(name), variable]);
    // Without the parameter, the header of the client stays as it is.
    if (place === 'header')
      headers[name.toLowerCase()] = { text: `{{ default(${variable}, header("${name.toLowerCase()}")) }}` };
  }
  headers[':path'] = { text: pathOf(`${basePath}${operation.path}`, variables) + queryOf(query) };
  const template = { ...bodyOf(operation, document, headers), headers };
  const [problem] = templateProblems(template, 'request');
  if (problem) throw new Error(problem.message);
  return template;
}

function pathOf(path: string, variables: ReadonlyMap<string, string>): string {
  if (!path.startsWith('/')) throw new Error('the path does not start with /');
  return path
    .split(/(\{[^{}]*\})/)
    .map((part) => {
      if (!part.startsWith('{')) {
        if (!LITERAL.test(part)) throw new Error(`the path contains a character that is not allowed: '${part}'`);
        return part;
      }
      const name = part.slice(1, -1);
      const variable = variables.get(name);
      if (variable === undefined) throw new Error(`the path parameter '${name}' is not declared`);
      return `{{ url_encode(default(${variable}, "")) }}`;
    })
    .join('');
}

/** Parameters without a value are left out. */
function queryOf(query: readonly (readonly [string, string])[]): string {
  const parts = query.map(([name, variable], index) => {
    const next = index < query.length - 1 ? `{% set ${GLUE} = "&" %}` : '';
    return `{% if default(${variable}, "") != "" %}{{ ${GLUE} }}${name}={{ url_encode(${variable}) }}${next}{% endif %}`;
  });
  return parts.length > 0 ? `{% set ${GLUE} = "?" %}${parts.join('')}` : '';
}

/** Returns how the body is handled: that of the request is sent on if the operation has one. */
function bodyOf(
  { placed, method }: Operation,
  document: Document,
  headers: Record<string, { text: string }>,
): Partial<TransformationTemplate> {
  const written = method === 'get' ? undefined : placed.value['requestBody'];
  // Fields of a JSON body are parameters although the operation has no body.
  if (written === undefined) return { body: {}, ignoreErrorOnParse: true };
  const { value, pointer } = document.follow(written, `${placed.pointer}/requestBody`);
  if (isRecord(value['content']) && !jsonContent(document, value, pointer)) return { parseBodyBehavior: 'DontParse' };
  headers['content-type'] = { text: 'application/json' };
  return {};
}
