import { isRecord } from '../../document/json.ts';
import { METHODS, listOf, textOf, type Json, type Placed } from './values.ts';

type Follow = (value: unknown, pointer: string) => Placed;

const FORMS = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i;
const JSON_TYPES = ['application/json'];
/** Media types of an operation that are read. */
const MAX_TYPES = 64;

/**
 * Converts a Swagger 2 document to OpenAPI 3, as far as discovery reads it: paths, parameters, bodies and responses. Definitions stay at their place,
 * so that references to them remain valid. Operations that cannot be converted keep their form, and are reported when they are read.
 */
export function fromSwagger(root: Json, follow: Follow): Json {
  const paths = isRecord(root['paths']) ? root['paths'] : {};
  const converted = Object.entries(paths).map(([path, item]) => [path, pathItem(item, { root, follow, path })]);
  return {
    ...root,
    openapi: '3.0.0',
    servers: [{ url: textOf(root['basePath']) ?? '/' }],
    paths: Object.fromEntries(converted) as Json,
  };
}

interface Context {
  readonly root: Json;
  readonly follow: Follow;
  readonly path: string;
}

function pathItem(written: unknown, context: Context): unknown {
  try {
    const { value } = context.follow(written, context.path);
    const shared = listOf(value['parameters']).map((each) => context.follow(each, context.path).value);
    const operations = METHODS.filter((method) => isRecord(value[method])).map((method) => {
      return [method, operation(value[method] as Json, shared, context)];
    });
    return { ...Object.fromEntries(operations), parameters: shared.filter((each) => !isBody(each)).map(parameter) };
  } catch {
    return written;
  }
}

/** Parameters of the path that belong to the body count for each of its operations. */
function operation(value: Json, shared: readonly Json[], { root, follow, path }: Context): Json {
  const own = listOf(value['parameters']).map((each) => follow(each, path).value);
  const body = [...own, ...shared].filter(isBody);
  const consumes = typesOf(value['consumes'] ?? root['consumes']);
  const produces = typesOf(value['produces'] ?? root['produces']);
  const responses = isRecord(value['responses']) ? value['responses'] : {};
  const requestBody = requestBodyOf(body, consumes);
  const { operationId, summary, description } = value;
  return {
    operationId,
    summary,
    description,
    parameters: own.filter((each) => !isBody(each)).map(parameter),
    ...(requestBody && { requestBody }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, each]) => [code, response(follow(each, path).value, produces)]),
    ),
  };
}

function isBody({ in: place }: Json): boolean {
  return place === 'body' || place === 'formData';
}

function typesOf(written: unknown): readonly string[] {
  const types = listOf(written)
    .slice(0, MAX_TYPES)
    .filter((each) => typeof each === 'string');
  return types.length > 0 ? types : JSON_TYPES;
}

/** Styles of lists that are one text, by `collectionFormat`. */
const STYLES: Readonly<Record<string, string>> = {
  ssv: 'spaceDelimited',
  tsv: 'tabDelimited',
  pipes: 'pipeDelimited',
};

/** A list is one text such as `a,b`, unless its parameter repeats. */
function parameter(written: Json): Json {
  const { name, in: place, required, description, collectionFormat } = written;
  const style = STYLES[textOf(collectionFormat) ?? ''];
  const explode = collectionFormat === 'multi' && place === 'query';
  // Its schema is beside its name. It is not copied: many operations may refer to it.
  return { name, in: place, required, description, ...(style && { style }), explode, schema: written };
}

function requestBodyOf(body: readonly Json[], consumes: readonly string[]): Json | undefined {
  if (body.length === 0) return undefined;
  const required = body.some((each) => each['required'] === true);
  const whole = body.find((each) => each['in'] === 'body');
  if (whole) return { required, content: contentOf(consumes, whole['schema']) };
  const forms = consumes.filter((type) => FORMS.test(type));
  const isFile = body.some((each) => each['type'] === 'file');
  const types = forms.length > 0 ? forms : [isFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded'];
  return { required, content: contentOf(types, { type: 'object' }) };
}

function response({ description, schema }: Json, produces: readonly string[]): Json {
  if (!isRecord(schema)) return { description };
  const isFile = schema['type'] === 'file';
  return { description, content: contentOf(isFile ? ['application/octet-stream'] : produces, schema) };
}

function contentOf(types: readonly string[], schema: unknown): Json {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}
