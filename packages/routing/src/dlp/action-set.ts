import type { Dlp } from '@edge-gateway/core/schema';
import { applyMask, compileMasks, maskValue, styleOf, type Mask, type MaskStyle } from './mask.ts';

/** What is masked in names with values: headers and metadata. */
interface KeyMask extends MaskStyle {
  readonly key: string;
  readonly shadow: boolean;
}

/** Where values are masked. */
export type MaskedPlaces = NonNullable<Dlp['enabledFor']>;

/** Compiled actions. */
export class ActionSet {
  readonly masks: readonly Mask[];
  readonly #keys: readonly KeyMask[];
  readonly #onFound: () => void;

  /** Throws `ERR_ROUTING_OPTION` for an invalid action. `onFound` is called for each value that an action finds. */
  constructor(actions: NonNullable<Dlp['actions']>, onFound: () => void) {
    this.masks = actions.flatMap(compileMasks);
    this.#keys = actions.flatMap(({ actionType, keyValueAction, shadow = false }): KeyMask[] => {
      if (actionType !== 'KEYVALUE' || !keyValueAction?.keyToMask) return [];
      return [{ ...styleOf(keyValueAction), key: keyValueAction.keyToMask.toLowerCase(), shadow }];
    });
    this.#onFound = onFound;
  }

  /** True if the values of headers are masked by name. */
  get masksKeys(): boolean {
    return this.#keys.length > 0;
  }

  /** Returns the value of a header or of metadata, a byte string, masked by its name and by what it contains. */
  maskNamed(name: string, value: string): string {
    let bytes = this.#byKey(name, value);
    for (const mask of this.masks) bytes = applyMask(bytes, mask, this.#onFound);
    return bytes;
  }

  /** Returns a list of headers with all values masked by their names and by what they contain. */
  maskAll(flat: readonly string[]): string[] {
    return flat.map((text, i) => (i % 2 === 0 ? text : this.maskNamed(flat[i - 1]!, text)));
  }

  /** Returns a list of headers with the values masked whose names an action lists. */
  maskKeys(flat: readonly string[]): string[] {
    return flat.map((text, i) => (i % 2 === 0 ? text : this.#byKey(flat[i - 1]!, text)));
  }

  #byKey(name: string, bytes: string): string {
    const key = this.#keys.find((each) => each.key === name.toLowerCase());
    if (!key) return bytes;
    this.#onFound();
    return key.shadow ? bytes : maskValue(bytes, key);
  }
}
