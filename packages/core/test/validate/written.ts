import { formatIssue } from '../../src/resource/problem.ts';
import { parseDocuments } from '../../src/parse/parse.ts';
import { validateWritten, type Validated } from '../../src/validate/validate.ts';

/** Validates the first document of a YAML text. */
export function validate(yaml: string): Validated {
  return validateWritten(parseDocuments(yaml, 'a.yaml')[0]!);
}

/** The problems of the first document, as they are printed, without the file's name. */
export function linesOf(yaml: string): string[] {
  return validate(yaml).issues.map((issue) => formatIssue(issue).slice('a.yaml:'.length));
}

/** A resource `ns/x` with its spec in flow style. */
export function resource(kind: string, spec: string, apiVersion = 'gateway.vendor.io/v1'): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x, namespace: ns}\nspec: ${spec}\n`;
}

/** A route table with one route, in flow style. */
export const route = (text: string): string => resource('RouteTable', `{routes: [${text}]}`);

/** Takes the mark `^^` out of a text, and gives the place where it stood as `line:column`. */
export function unmark(marked: string): { text: string; place: string } {
  const at = marked.indexOf('^^');
  const before = marked.slice(0, at).split('\n');
  return { text: marked.replace('^^', ''), place: `${before.length}:${before.at(-1)!.length + 1}` };
}
