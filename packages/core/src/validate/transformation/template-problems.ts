import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { TransformationTemplate } from '../../schema/route/transformations.ts';
import { compileTemplate, type Template } from '../../template/template.ts';
import { TemplateError } from '../../template/template-error.ts';

/** A template that cannot be rendered, and its path in its transformation. */
export type TemplateProblem = Pick<FieldProblem, 'path' | 'message'>;

const known = new WeakMap<TransformationTemplate, readonly TemplateProblem[]>();

/** Returns problems of request templates: they do not parse, or require the body, which is not read yet. */
export function templateProblems(spec: TransformationTemplate): readonly TemplateProblem[] {
  let problems = known.get(spec);
  if (!problems) known.set(spec, (problems = [...bodyExtractors(spec), ...textProblems(spec)]));
  return problems;
}

function bodyExtractors({ extractors = {}, passthrough }: TransformationTemplate): TemplateProblem[] {
  if (passthrough) return [];
  return Object.entries(extractors).flatMap(([name, { body }]) =>
    body ? [{ path: ['extractors', name, 'body'], message: needsBody('it') }] : [],
  );
}

function textProblems(spec: TransformationTemplate): TemplateProblem[] {
  return textsOf(spec).flatMap(({ text, path }) => {
    try {
      const template = compileTemplate(text, { pointers: spec.advancedTemplates === true });
      const message = path[0] === 'body' ? undefined : bodyNeed(template, spec);
      return message === undefined ? [] : [{ path, message }];
    } catch (error) {
      if (error instanceof TemplateError) return [{ path, message: error.message }];
      throw error;
    }
  });
}

interface PlacedText {
  readonly text: string;
  readonly path: FieldPath;
}

function textsOf({ headers, headersToAppend, dynamicMetadataValues, body }: TransformationTemplate): PlacedText[] {
  const named = Object.entries(headers ?? {}).map(([name, { text = '' }]) => ({
    text,
    path: ['headers', name, 'text'],
  }));
  const appended = (headersToAppend ?? []).map(({ value }, i) => {
    return { text: value?.text ?? '', path: ['headersToAppend', i, 'value', 'text'] };
  });
  const metadata = (dynamicMetadataValues ?? []).map(({ value }, i) => {
    return { text: value?.text ?? '', path: ['dynamicMetadataValues', i, 'value', 'text'] };
  });
  const whole = body ? [{ text: body.text ?? '', path: ['body', 'text'] }] : [];
  return [...named, ...appended, ...metadata, ...whole];
}

const BODY_FUNCTIONS = ['body', 'context'] as const;

/** Returns what a template reads from the body; nothing with passthrough. */
function bodyNeed({ uses }: Template, spec: TransformationTemplate): string | undefined {
  if (spec.passthrough) return undefined;
  const called = BODY_FUNCTIONS.find((name) => uses.functions.has(name));
  if (called) return needsBody(`${called}()`);
  if (spec.parseBodyBehavior === 'DontParse') return undefined;
  const extracted = spec.advancedTemplates ? {} : (spec.extractors ?? {});
  const bare = [...uses.variables].find((name) => {
    return !Object.hasOwn(extracted, name) && !Object.hasOwn(extracted, name.split('.', 1)[0]!);
  });
  if (bare !== undefined) return needsBody(`variable '${bare.slice(0, 60)}'`);
  return uses.functions.has('exists') ? needsBody('exists()') : undefined;
}

function needsBody(what: string): string {
  return `${what} reads the body, which is not supported yet; with passthrough the body counts as empty`;
}
