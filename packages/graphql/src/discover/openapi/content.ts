import { isRecord } from '../../document/json.ts';
import type { Document } from './document.ts';
import type { Json, Placed } from './values.ts';

/** Returns the schema of a JSON body; `undefined` if there is none. */
export function jsonContent(document: Document, value: Json, pointer: string): Placed | undefined {
  const content = isRecord(value['content']) ? value['content'] : {};
  const { json } = typesOf(content);
  if (json === undefined) return undefined;
  const media = document.follow(content[json], `${pointer}/content/${json}`);
  const schema = media.value['schema'];
  return { value: isRecord(schema) ? schema : {}, pointer: `${media.pointer}/schema` };
}

/** Returns true if a body has a media type. */
export function hasContent(value: Json): boolean {
  return isRecord(value['content']) && !typesOf(value['content']).isEmpty;
}

interface Types {
  readonly isEmpty: boolean;
  /** The media type of JSON. */
  readonly json: string | undefined;
}

/** The media types by content: operations may refer to the same long list. */
const known = new WeakMap<Json, Types>();

function typesOf(content: Json): Types {
  let found = known.get(content);
  if (!found) {
    const types = Object.keys(content);
    const json =
      types.find((type) => /^application\/json\b/i.test(type)) ??
      types.find((type) => /[/+]json\b|^\*\/\*$/i.test(type));
    known.set(content, (found = { isEmpty: types.length === 0, json }));
  }
  return found;
}
