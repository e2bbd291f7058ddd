import { isRecord } from '../../document/json.ts';
import type { Document } from './document.ts';
import type { Json, Placed } from './values.ts';

/** Returns the schema of a JSON body; `undefined` if there is none. */
export function jsonContent(document: Document, value: Json, pointer: string): Placed | undefined {
  const content = isRecord(value['content']) ? value['content'] : {};
  const json = jsonType(content);
  if (json === undefined) return undefined;
  const media = document.follow(content[json], `${pointer}/content/${json}`);
  const schema = media.value['schema'];
  return { value: isRecord(schema) ? schema : {}, pointer: `${media.pointer}/schema` };
}

/** The media type of JSON by content: operations may refer to the same long list of types. */
const known = new WeakMap<Json, { readonly type: string | undefined }>();

function jsonType(content: Json): string | undefined {
  let found = known.get(content);
  if (!found) {
    const types = Object.keys(content);
    const type =
      types.find((each) => /^application\/json\b/i.test(each)) ??
      types.find((each) => /[/+]json\b|^\*\/\*$/i.test(each));
    known.set(content, (found = { type }));
  }
  return found.type;
}
