import { lazily } from '../http/json-chunks.ts';
import type { Message } from './envoy/json.ts';

/** One element of a list in the dump, under the name that `name_regex` looks at. */
export interface DumpElement {
  readonly name: string;
  value(): Message;
}

export interface DumpPartOptions {
  /** E.g. `ClustersConfigDump`. */
  readonly type: string;
  /** List name → type of its elements, e.g. `dynamic_active_clusters: 'DynamicCluster'`. */
  readonly elementTypes: Readonly<Record<string, string>>;
  /** List name → elements; a list that is left out is empty. */
  readonly lists?: Readonly<Record<string, readonly DumpElement[]>>;
  /** Fields beside the lists. */
  readonly fields?: Message;
}

/** One member of `configs`. */
export interface DumpPart extends DumpPartOptions {
  readonly lists: Readonly<Record<string, readonly DumpElement[]>>;
  /** All of it, without its type; empty lists are left out. */
  content(): Message;
  /** The same with only the elements whose names pass. */
  only(fits: ((name: string) => boolean) | undefined): DumpPart;
}

/** Makes a part; every list that `elementTypes` names exists, if only to be found empty. */
export function dumpPart(options: DumpPartOptions): DumpPart {
  const { elementTypes, fields = {} } = options;
  const lists = Object.fromEntries(Object.keys(elementTypes).map((list) => [list, options.lists?.[list] ?? []]));
  return {
    ...options,
    lists,
    content() {
      const filled = Object.entries(lists).filter(([, elements]) => elements.length > 0);
      return { ...fields, ...Object.fromEntries(filled.map(([list, elements]) => [list, lazily(elements, valueOf)])) };
    },
    only(fits) {
      if (!fits) return this;
      const kept = Object.entries(lists).map(([list, elements]) => [list, elements.filter(({ name }) => fits(name))]);
      return dumpPart({ ...options, lists: Object.fromEntries(kept) });
    },
  };
}

function valueOf(element: DumpElement): Message {
  return element.value();
}
