import type { Terminal } from '../output/terminal.ts';
import { existing, printChanged, type ResourceFlags } from './change-command.ts';
import { changeResources } from './change-resources.ts';
import type { ResourceDraft } from './resource-draft.ts';
import type { EditedResource, Identity } from './resource-file.ts';

/** Which resource a command changes, and how. */
export interface ResourceChange {
  /** The resource, which must exist; or a function that finds it, and may add it. */
  readonly of: Identity | ((draft: ResourceDraft) => Identity);
  /** Changes it. May return a line for standard error, which is printed when the change is written. */
  readonly change: (resource: EditedResource, identity: Identity) => string | void;
}

/** Changes one resource of a directory and prints it. */
export async function changeResource(
  io: Terminal,
  flags: ResourceFlags,
  { of, change }: ResourceChange,
): Promise<void> {
  const { result, state } = await changeResources(io, flags, (draft) => {
    const identity = typeof of === 'function' ? of(draft) : existing(draft, of);
    const resource = draft.edit(identity);
    const note = change(resource, identity);
    return { identity, written: resource.get(), note };
  });
  if (result.note !== undefined) io.err(result.note);
  printChanged(io, flags, { ...result, state });
}
