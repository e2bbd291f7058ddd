import { parseDocuments } from '../../src/parse/parse.ts';
import { createStore, type Store } from '../../src/control/store.ts';
import type { StoreState } from '../../src/resource/stored.ts';

/** Splits YAML into its documents, so that they can be handed over in any order. */
export function splitDocuments(text: string): string[] {
  return text.split(/^---\n/m).filter((document) => document.trim() !== '');
}

/** The state of a store after its one file was replaced by these documents. */
export function load(documents: readonly string[], store: Store = createStore()): StoreState {
  store.apply(new Map([['all.yaml', parseDocuments(documents.join('\n---\n'), 'all.yaml')]]));
  return store.state;
}
