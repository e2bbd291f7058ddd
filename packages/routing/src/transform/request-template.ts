import { compileTemplate, headerProblems, RenderError, templateProblems, type Template } from '@edge-gateway/core';
import type { TransformationTemplate } from '@edge-gateway/core/schema';
import { compileExtractor, type Extractor } from './extractor.ts';
import { routingError } from '../error-codes.ts';
import { badRequest, headerValue, setHead } from './head-change.ts';
import type { Message } from './message.ts';
import { RequestData, TRANSFORMATION_NAMESPACE } from './request-data.ts';

export interface TransformEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly escape: boolean;
}

/** Changes a request. Throws `ERR_ROUTING_TRANSFORMATION` (400) if it cannot be changed. */
export type ChangeRequest = (message: Message) => void;

type Step = (message: Message, data: RequestData) => void;

/**
 * Compiles a template of a request: extractors, dynamic metadata, `headers`, `headersToRemove`, `headersToAppend`, in
 * this order. Later ones see the changes of earlier ones. Throws `ERR_ROUTING_OPTION` for an invalid template.
 */
export function compileRequestTemplate(spec: TransformationTemplate, environment: TransformEnvironment): ChangeRequest {
  const [problem] = [...headerProblems(spec), ...templateProblems(spec)];
  if (problem) throw routingError('ERR_ROUTING_OPTION', `${problem.path.join('.')}: ${problem.message}`);
  const syntax = {
    pointers: spec.advancedTemplates === true,
    escape: spec.escapeCharacters ?? environment.escape,
  };
  const compile: Compile = (template) => compileTemplate(template?.text ?? '', syntax);
  const extractors = Object.entries(spec.extractors ?? {}).map(
    ([name, extractor]) => [name, compileExtractor(name, extractor)] as const,
  );
  const steps = [
    ...metadataSteps(spec, compile),
    ...headerSteps(spec, compile),
    ...removalSteps(spec),
    ...appendSteps(spec, compile),
  ];
  return (message) => {
    const extracted = extractAll(extractors, message);
    const data = new RequestData(message, { env: environment.env, extracted, bareNames: !syntax.pointers });
    for (const step of steps) step(message, data);
  };
}

type Compile = (template: { readonly text?: string } | undefined) => Template;

function extractAll(extractors: readonly (readonly [string, Extractor])[], message: Message): Map<string, string> {
  return new Map(
    extractors.map(([name, { header, extract }]) => [name, extract(header === '' ? '' : message.first(header))]),
  );
}

function render(template: Template, data: RequestData): string {
  try {
    return template.render(data);
  } catch (error) {
    if (error instanceof RenderError) throw badRequest(error.message);
    throw error;
  }
}

function headerSteps({ headers = {} }: TransformationTemplate, compile: Compile): Step[] {
  return Object.entries(headers).map(([written, text]) => {
    const name = written.toLowerCase();
    const template = compile(text);
    return (message, data) => setHead(message, name, headerValue(name, render(template, data)));
  });
}

function removalSteps({ headersToRemove = [] }: TransformationTemplate): Step[] {
  return headersToRemove.map((written) => {
    const name = written.toLowerCase();
    return ({ facts }) => void facts.requestChanges.push({ op: 'remove', name });
  });
}

function appendSteps({ headersToAppend = [] }: TransformationTemplate, compile: Compile): Step[] {
  return headersToAppend.map(({ key = '', value: text }) => {
    const name = key.toLowerCase();
    const template = compile(text);
    return ({ facts }, data) => {
      const value = headerValue(name, render(template, data));
      if (value !== '') facts.requestChanges.push({ op: 'append', name, value });
    };
  });
}

function metadataSteps({ dynamicMetadataValues = [] }: TransformationTemplate, compile: Compile): Step[] {
  return dynamicMetadataValues.map(({ metadataNamespace, key = '', value: text, jsonToProto = false }) => {
    const namespace = metadataNamespace || TRANSFORMATION_NAMESPACE;
    const template = compile(text);
    return ({ facts }, data) => {
      const rendered = render(template, data);
      if (rendered === '') return;
      const values = facts.metadata.get(namespace) ?? {};
      facts.metadata.set(namespace, { ...values, [key]: jsonToProto ? parsed(rendered) : fromBytes(rendered) });
    };
  });
}

function parsed(rendered: string): unknown {
  try {
    return JSON.parse(fromBytes(rendered));
  } catch {
    throw badRequest('a dynamic metadata value is not JSON');
  }
}

function fromBytes(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}
