import {
  compileTemplate,
  fromByteString,
  headerProblems,
  parseJson,
  RenderError,
  templateProblems,
  type Template,
} from '@edge-gateway/core';
import type { TransformationTemplate } from '@edge-gateway/core/schema';
import { routingError } from '../error-codes.ts';
import { MessageBody } from './body.ts';
import { compileBodyChange, EMPTY, type ChangeBody } from './body-change.ts';
import { compileExtractor, type Extractor } from './extractor.ts';
import { badRequest, headerValue } from './head-change.ts';
import type { Message } from './message.ts';
import { MessageData, TRANSFORMATION_NAMESPACE } from './message-data.ts';
import type { ChangeMessage, TransformEnvironment } from './transformation.ts';

type Step = (message: Message, data: MessageData) => void;

/**
 * Compiles a template: extractors, body, dynamic metadata, `headers`, `headersToRemove`, `headersToAppend`, in this order. All
 * see the original body; templates of headers see the changes of earlier ones. Throws `ERR_ROUTING_OPTION` for an invalid template.
 */
export function compileMessageTemplate(spec: TransformationTemplate, environment: TransformEnvironment): ChangeMessage {
  const { side, env } = environment;
  const [problem] = [...headerProblems(spec, side), ...templateProblems(spec, side)];
  if (problem) throw routingError('ERR_ROUTING_OPTION', `${problem.path.join('.')}: ${problem.message}`);
  const syntax = {
    pointers: spec.advancedTemplates === true,
    escape: spec.escapeCharacters ?? environment.escape,
  };
  const compile: Compile = (template, field) => renderer(compileTemplate(template?.text ?? '', syntax), field);
  const extractors = Object.entries(spec.extractors ?? {}).map(
    ([name, extractor]) => [name, compileExtractor(name, extractor)] as const,
  );
  const changeBody: ChangeBody | undefined = compileBodyChange(spec, compile);
  const steps = [
    ...metadataSteps(spec, compile),
    ...headerSteps(spec, compile),
    ...removalSteps(spec),
    ...appendSteps(spec, compile),
    ...spanSteps(spec, compile),
  ];
  const reading = {
    parses: spec.parseBodyBehavior !== 'DontParse',
    ignoresErrors: spec.ignoreErrorOnParse === true,
  };
  const readsBody = spec.passthrough === undefined;
  return {
    readsBody,
    apply(message, bytes) {
      const body = new MessageBody(readsBody ? bytes : EMPTY, reading);
      const extracted = extractAll(extractors, message, body);
      const data = new MessageData(message, { env, extracted, bareNames: !syntax.pointers, body });
      const changed = changeBody?.({ data, body, extracted });
      for (const step of steps) step(message, data);
      if (readsBody && message.hasBody && (changed ?? bytes).length === 0) message.remove('content-type');
      return changed;
    },
  };
}

/** Renders a template. Throws 400 if it cannot be rendered. */
export type Render = (data: MessageData) => string;
/** Compiles a template. `field` is its path in the transformation, for the log. */
export type Compile = (template: { readonly text?: string } | undefined, field: string) => Render;

function extractAll(
  extractors: readonly (readonly [string, Extractor])[],
  message: Message,
  body: MessageBody,
): Map<string, string> {
  return new Map(
    extractors.map(([name, { header, readsBody, extract }]) => {
      if (readsBody) return [name, extract(body.text)];
      return [name, extract(header === '' ? '' : message.first(header))];
    }),
  );
}

function renderer(template: Template, field: string): Render {
  return (data) => {
    try {
      return template.render(data);
    } catch (error) {
      if (error instanceof RenderError) throw badRequest(`${field}: ${error.message}`);
      if (error instanceof RangeError) throw badRequest(`${field}: a value is nested too deeply`);
      throw error;
    }
  };
}

function headerSteps({ headers = {} }: TransformationTemplate, compile: Compile): Step[] {
  return Object.entries(headers).map(([written, text]) => {
    const name = written.toLowerCase();
    const render = compile(text, `headers.${written}.text`);
    return (message, data) => message.set(name, headerValue(name, render(data)));
  });
}

function removalSteps({ headersToRemove = [] }: TransformationTemplate): Step[] {
  return headersToRemove.map((written) => {
    const name = written.toLowerCase();
    return (message) => message.remove(name);
  });
}

function appendSteps({ headersToAppend = [] }: TransformationTemplate, compile: Compile): Step[] {
  return headersToAppend.map(({ key = '', value: text }, i) => {
    const name = key.toLowerCase();
    const render = compile(text, `headersToAppend[${i}].value.text`);
    return (message, data) => {
      const value = headerValue(name, render(data));
      if (value !== '') message.append(name, value);
    };
  });
}

function metadataSteps({ dynamicMetadataValues = [] }: TransformationTemplate, compile: Compile): Step[] {
  return dynamicMetadataValues.map(({ metadataNamespace, key = '', value: text, jsonToProto = false }, i) => {
    const namespace = metadataNamespace || TRANSFORMATION_NAMESPACE;
    const render = compile(text, `dynamicMetadataValues[${i}].value.text`);
    return ({ facts }, data) => {
      const rendered = render(data);
      if (rendered === '') return;
      const values = facts.metadata.get(namespace) ?? {};
      facts.metadata.set(namespace, { ...values, [key]: jsonToProto ? parsed(rendered) : fromByteString(rendered) });
    };
  });
}

function spanSteps({ spanTransformer }: TransformationTemplate, compile: Compile): Step[] {
  if (!spanTransformer?.name) return [];
  const render = compile(spanTransformer.name, 'spanTransformer.name.text');
  return [
    ({ facts }, data) => {
      facts.spanName = fromByteString(render(data)) || facts.spanName;
    },
  ];
}

function parsed(rendered: string): unknown {
  try {
    return parseJson(fromByteString(rendered));
  } catch {
    throw badRequest('a dynamic metadata value is not JSON');
  }
}
