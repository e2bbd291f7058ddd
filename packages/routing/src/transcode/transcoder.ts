import type { DescField, DescMessage, DescMethod, Registry } from '@bufbuild/protobuf';
import { lenientRegistry, messageRegistry } from '@edge-gateway/core/descriptors';
import type { GrpcJsonTranscoder } from '@edge-gateway/core/schema';
import { routingError } from '../error-codes.ts';
import { fieldsOfPath } from './field-path.ts';
import { httpRulesOf, type HttpRule } from './http-rule.ts';
import { PathIndex } from './path-index.ts';
import type { FieldText } from './request-message.ts';
import { jsonFormatOf, type JsonFormat } from './response-message.ts';

const HTTP_BODY = 'google.api.HttpBody';
const WHOLE_BODY = '*';

/** A method of a service as a rule binds it. */
export interface BoundMethod {
  readonly method: DescMethod;
  /** `/<package>.<Service>/<Method>`. */
  readonly path: string;
  /** Whether a request may have a body. */
  readonly hasBody: boolean;
  /** Field that the body is parsed into; empty for the whole message. */
  readonly bodyPath: readonly DescField[];
  /** True if the body is a `google.api.HttpBody`: any bytes. */
  readonly isRawRequest: boolean;
  /** Field that the response contains; empty for the whole message. */
  readonly responsePath: readonly DescField[];
  readonly isRawResponse: boolean;
}

/** A request that a rule matches. */
export interface MatchedCall {
  readonly bound: BoundMethod;
  /** Fields with a text of the path or the query. */
  readonly texts: readonly FieldText[];
}

/** The compiled rules of services. */
export interface Transcoder {
  readonly registry: Registry;
  readonly format: JsonFormat;
  readonly keepsRoute: boolean;
  readonly convertsStatus: boolean;
  /**
   * Returns the call of a request; `undefined` if no rule matches it, or if it has an unknown query parameter: it is then not transcoded. Throws
   * `ERR_ROUTING_GRPC_JSON` for invalid escapes.
   */
  match(method: string, path: string): MatchedCall | undefined;
}

/** A problem of the options or their descriptors. `field` is the path of the field below the block. */
export class TranscoderProblem extends Error {
  override readonly name = 'TranscoderProblem';
  readonly field: readonly (string | number)[];

  constructor(message: string, field: readonly (string | number)[], cause?: unknown) {
    super(message, { cause });
    this.field = field;
  }
}

/**
 * Compiles the rules of services. Throws a {@link TranscoderProblem} if the descriptor set is invalid or lacks a service, or if a rule of it is
 * invalid. `source` is the field that contains the descriptor set.
 */
export function compileTranscoder(
  options: GrpcJsonTranscoder,
  descriptorSet: Uint8Array,
  source = 'protoDescriptorBin',
): Transcoder {
  const registry = registryOf(descriptorSet, source);
  const { services = [], ignoredQueryParameters = [], ignoreUnknownQueryParameters = false } = options;
  const ignored = new Set(ignoredQueryParameters);
  const index = new PathIndex<BoundMethod>();
  for (const [i, name] of services.entries()) {
    const service = registry.getService(name);
    if (!service) throw new TranscoderProblem(`the descriptors have no service ${name}`, ['services', i]);
    for (const method of service.methods) {
      try {
        for (const rule of rulesOf(method, options)) addRule(index, method, rule);
      } catch (cause) {
        throw new TranscoderProblem(`${name}.${method.name}: ${(cause as Error).message}`, [source], cause);
      }
    }
  }
  return {
    registry,
    format: jsonFormatOf(lenientRegistry(registry), options.printOptions),
    keepsRoute: options.matchIncomingRequestRoute === true,
    convertsStatus: options.convertGrpcStatus === true,
    match(method, target) {
      const [path, query] = split(target);
      const found = decoded(() => index.find(method, path));
      if (!found) return undefined;
      const { value: bound, bindings } = found;
      const texts: FieldText[] = [];
      for (const { name, text } of parametersOf(query)) {
        if (ignored.has(name)) continue;
        const fields = fieldsOfPath(bound.method.input, name.split('.'));
        if (fields) texts.push({ path: fields, text });
        else if (!ignoreUnknownQueryParameters) return undefined;
      }
      // The path is last: the query must not override what the route was chosen by.
      for (const { field, text } of bindings) texts.push({ path: fieldsOfPath(bound.method.input, field)!, text });
      return { bound, texts };
    },
  };
}

function registryOf(descriptorSet: Uint8Array, source: string): Registry {
  try {
    return messageRegistry(descriptorSet);
  } catch (cause) {
    throw new TranscoderProblem('the descriptor set cannot be read', [source], cause);
  }
}

function rulesOf(method: DescMethod, { autoMapping }: GrpcJsonTranscoder): readonly HttpRule[] {
  const written = httpRulesOf(method);
  if (written || !autoMapping) return written ?? [];
  return [{ method: 'POST', path: pathOf(method), body: WHOLE_BODY, responseBody: '' }];
}

const pathOf = ({ parent, name }: DescMethod): string => `/${parent.typeName}/${name}`;

function addRule(index: PathIndex<BoundMethod>, method: DescMethod, rule: HttpRule): void {
  const { input, output } = method;
  const bodyPath = rule.body === '' || rule.body === WHOLE_BODY ? [] : pathIn(input, rule.body);
  const responsePath = rule.responseBody === '' ? [] : pathIn(output, rule.responseBody);
  const hasBody = rule.body !== '';
  const template = index.add(rule.method, rule.path, {
    method,
    path: pathOf(method),
    hasBody,
    bodyPath,
    isRawRequest: hasBody && typeAt(input, bodyPath) === HTTP_BODY,
    responsePath,
    isRawResponse: typeAt(output, responsePath) === HTTP_BODY,
  });
  for (const { field } of template.variables) pathIn(input, field.join('.'));
}

function pathIn(type: DescMessage, written: string): readonly DescField[] {
  const fields = fieldsOfPath(type, written.split('.'));
  if (!fields) throw new Error(`${type.typeName} has no field '${written}'`);
  return fields;
}

/** Returns the name of the message type at a path; empty for other fields. */
function typeAt(type: DescMessage, path: readonly DescField[]): string {
  const last = path.at(-1);
  if (!last) return type.typeName;
  return last.fieldKind === 'message' ? last.message.typeName : '';
}

function split(target: string): readonly [path: string, query: string] {
  const at = target.indexOf('?');
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}

/** Parameters without `=` are ignored, as in Envoy. */
function parametersOf(query: string): { readonly name: string; readonly text: string }[] {
  if (query === '') return [];
  return query.split('&').flatMap((parameter) => {
    const at = parameter.indexOf('=');
    if (at <= 0) return [];
    const [name, text] = decoded(() => [parameter.slice(0, at), parameter.slice(at + 1)].map(decodeURIComponent));
    return [{ name: name!, text: text! }];
  });
}

function decoded<T>(attempt: () => T): T {
  try {
    return attempt();
  } catch (cause) {
    throw routingError(
      'ERR_ROUTING_GRPC_JSON',
      'invalid request: an escape of the path or the query is not UTF-8',
      cause,
    );
  }
}
