import { parseJson } from '@edge-gateway/core';
import type { TransformationTemplate } from '@edge-gateway/core/schema';
import { jsonBytes, setMember, type MessageBody } from './body.ts';
import type { MessageData } from './message-data.ts';

interface BodyInput {
  readonly data: MessageData;
  readonly body: MessageBody;
  readonly extracted: ReadonlyMap<string, string>;
}

/** Returns the new body of a message. */
export type ChangeBody = (input: BodyInput) => Buffer;

type CompileText = (template: { readonly text?: string } | undefined, field: string) => (data: MessageData) => string;

export const EMPTY = Buffer.alloc(0);

/** Compiles the change of the body; `undefined` if it stays as it is. */
export function compileBodyChange(
  { body, mergeExtractorsToBody, mergeJsonKeys }: TransformationTemplate,
  compile: CompileText,
): ChangeBody | undefined {
  if (body) {
    const render = compile(body, 'body.text');
    return ({ data }) => Buffer.from(render(data), 'latin1');
  }
  if (mergeExtractorsToBody) return mergeExtracted;
  if (!mergeJsonKeys) return undefined;
  const keys = Object.entries(mergeJsonKeys.jsonKeys ?? {}).map(([path, { tmpl, overrideEmpty = false }]) => ({
    path: pathOf(path),
    render: compile(tmpl, `mergeJsonKeys.jsonKeys.${path}.tmpl.text`),
    overrideEmpty,
  }));
  return (input) => {
    const root = input.body.toObject();
    for (const { path, render, overrideEmpty } of keys) {
      const rendered = render(input.data);
      if (rendered !== '' || overrideEmpty) setMember(root, path, valueOf(rendered));
    }
    return jsonBytes(root);
  };
}

function mergeExtracted({ body, extracted }: BodyInput): Buffer {
  const root = body.toObject();
  for (const [name, value] of extracted) setMember(root, pathOf(name), value);
  return jsonBytes(root);
}

/** Dots in names nest. Names become byte strings, as those of the body. */
function pathOf(name: string): string[] {
  return Buffer.from(name, 'utf8').toString('latin1').split('.');
}

/** JSON becomes a value, everything else a string. */
function valueOf(rendered: string): unknown {
  try {
    return parseJson(rendered);
  } catch {
    return rendered;
  }
}
