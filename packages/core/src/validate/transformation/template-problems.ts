import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { TransformationTemplate } from '../../schema/route/transformations.ts';
import { compileTemplate } from '../../template/template.ts';
import { TemplateError } from '../../template/template-error.ts';
import type { Side } from './stages.ts';

/** A template that cannot be rendered, and its path in its transformation. */
export type TemplateProblem = Pick<FieldProblem, 'path' | 'message'>;

const known = new WeakMap<TransformationTemplate, readonly TemplateProblem[]>();

/** Returns problems of the templates of a transformation: they do not parse, or fields exclude each other. */
export function templateProblems(spec: TransformationTemplate, side: Side): readonly TemplateProblem[] {
  let problems = known.get(spec);
  if (!problems) known.set(spec, (problems = [...mergeProblems(spec), ...textProblems(spec)]));
  if (side === 'request' || !spec.spanTransformer) return problems;
  return [
    { path: ['spanTransformer'], message: 'spanTransformer is only allowed in request transformations' },
    ...problems,
  ];
}

function mergeProblems({
  mergeJsonKeys,
  parseBodyBehavior,
  advancedTemplates,
}: TransformationTemplate): TemplateProblem[] {
  if (!mergeJsonKeys) return [];
  const path = ['mergeJsonKeys'];
  const problems: TemplateProblem[] = [];
  if (parseBodyBehavior === 'DontParse')
    problems.push({ path, message: 'mergeJsonKeys needs parseBodyBehavior ParseAsJson' });
  if (advancedTemplates) problems.push({ path, message: 'mergeJsonKeys must not be used with advancedTemplates' });
  return problems;
}

function textProblems(spec: TransformationTemplate): TemplateProblem[] {
  return textsOf(spec).flatMap(({ text, path }) => {
    try {
      compileTemplate(text, { pointers: spec.advancedTemplates === true });
      return [];
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

function textsOf(spec: TransformationTemplate): PlacedText[] {
  const { headers, headersToAppend, dynamicMetadataValues, body, mergeJsonKeys, spanTransformer } = spec;
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
  const merged = Object.entries(mergeJsonKeys?.jsonKeys ?? {}).map(([key, { tmpl }]) => {
    return { text: tmpl?.text ?? '', path: ['mergeJsonKeys', 'jsonKeys', key, 'tmpl', 'text'] };
  });
  const single = [
    ...(body ? [{ text: body.text ?? '', path: ['body', 'text'] }] : []),
    ...(spanTransformer?.name
      ? [{ text: spanTransformer.name.text ?? '', path: ['spanTransformer', 'name', 'text'] }]
      : []),
  ];
  return [...named, ...appended, ...metadata, ...merged, ...single];
}
