import { isRecord } from '../../document/json.ts';
import type { Document } from './document.ts';
import type { Json, Placed } from './values.ts';

/** Returns the schema of a JSON body; `undefined` if there is none. */
export function jsonContent(document: Document, value: Json, pointer: string): Placed | undefined {
  const content = isRecord(value['content']) ? value['content'] : {};
  const types = Object.keys(content);
  const json =
    types.find((type) => /^application\/json\b/i.test(type)) ?? types.find((type) => /[/+]json\b|^\*\/\*$/i.test(type));
  if (json === undefined) return undefined;
  const media = document.follow(content[json], `${pointer}/content/${json}`);
  const schema = media.value['schema'];
  return { value: isRecord(schema) ? schema : {}, pointer: `${media.pointer}/schema` };
}
