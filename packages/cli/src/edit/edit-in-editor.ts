import { isDeepStrictEqual } from 'node:util';
import { cliError } from '../error-codes.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseYamlText } from '../resources/yaml-text.ts';
import { changeResources, readDraft, type ChangeFlags, type ChangeResult } from './change-resources.ts';
import type { ResourceDraft } from './resource-draft.ts';
import { editText } from './editor.ts';
import type { EditedResource, Identity } from './resource-file.ts';

/** A field of a resource that is edited as YAML. */
export interface EditedField {
  /** Finds the resource, which may be added. */
  readonly find: (draft: ResourceDraft) => Identity;
  /** Returns the path of the field; throws if the resource cannot have it. */
  readonly pathIn: (resource: EditedResource, identity: Identity) => readonly (string | number)[];
  /** Name of the file in the editor. */
  readonly file: string;
  /** Shown if the field is missing, as comments. */
  readonly example: string;
}

/**
 * Edits a field in the editor of `$EDITOR`. The directory is not locked meanwhile: a field that another program has changed
 * is a conflict. Returns `undefined` if the text was not changed. A rejected text is kept in a file.
 */
export async function editInEditor(
  io: Terminal,
  flags: ChangeFlags,
  { find, pathIn, file, example }: EditedField,
): Promise<ChangeResult<{ identity: Identity; written: unknown }> | undefined> {
  const draft = await readDraft(io, flags);
  const owner = find(draft);
  const resource = draft.edit(owner);
  const path = pathIn(resource, owner);
  const before = resource.get(path);
  const shown = resource.textOf(path) || commented(example);
  const edited = await editText(io, shown, file);
  try {
    const after = parseYamlText(edited.text, edited.file, 'ERR_CLI_USAGE');
    if (edited.text === shown || (isDeepStrictEqual(before, after) && before === undefined)) {
      edited.discard();
      return undefined;
    }
    const done = await changeResources(io, flags, (current) => {
      const identity = find(current);
      const target = current.edit(identity);
      if (!isDeepStrictEqual(target.get(path), before))
        throw cliError('ERR_CLI_LOCKED', 'the field was changed by another program in the meantime');
      if (after === undefined) target.unset(path);
      else target.setText(path, edited.text);
      return { identity, written: target.get() };
    });
    edited.discard();
    return done;
  } catch (error) {
    io.err(`Your text is kept in ${edited.file}`);
    throw error;
  }
}

const commented = (text: string): string => text.replaceAll(/^/gm, '# ');
