import type { Secrets, SnapshotSettings } from '../../contract/snapshot.ts';
import type { EnvoyServices } from '../services.ts';

/** The input of conditions: the services beside the Envoys, the settings of the listener, and certificates. */
export interface FormContext {
  readonly services: EnvoyServices;
  readonly settings: SnapshotSettings;
  /** The certificates. Missing: their keys are not checked. */
  readonly secrets?: Secrets;
}

/** A field that Envoy expresses with the same meaning only for some values. */
export interface Condition<V> {
  /** The condition, for the documentation. */
  readonly when: string;
  holds(value: V, context: FormContext): boolean;
}

/**
 * Whether Envoy expresses a field with the same meaning: `yes`, `no`, on a condition, or by the fields inside of it. The type of a table
 * requires every field of its schema, and an unknown field counts as `no`, so that no option is ever dropped silently.
 */
export type Form<V> =
  | 'yes'
  | 'no'
  | Condition<V>
  | (V extends readonly (infer Item)[]
      ? Item extends object
        ? Forms<Item>
        : never
      : V extends object
        ? Forms<V>
        : never);

/** The forms of all fields of a block. */
export type Forms<T> = { readonly [K in keyof T]-?: Form<NonNullable<T[K]>> };

type AnyForms = Readonly<Record<string, unknown>>;

/**
 * Returns the paths of the fields of a block that Envoy does not express.
 *
 * @example
 * unfaithfulFields({ timeout: '2s', dlp: {} }, ROUTE_FORMS, context); // ['dlp']
 */
export function unfaithfulFields<T extends object>(block: T, forms: Forms<T>, context: FormContext): string[] {
  const found: string[] = [];
  collect(block, forms as AnyForms, { context, found, path: '' });
  return found;
}

interface Collection {
  readonly context: FormContext;
  readonly found: string[];
  readonly path: string;
}

function collect(block: object, forms: AnyForms, { context, found, path }: Collection): void {
  for (const [field, value] of Object.entries(block) as [string, unknown][]) {
    if (value === undefined || value === null) continue;
    const at = path === '' ? field : `${path}.${field}`;
    const form = Object.hasOwn(forms, field) ? forms[field] : 'no';
    if (form === 'yes') continue;
    if (form === 'no') found.push(at);
    else if (isCondition(form)) {
      if (!form.holds(value, context)) found.push(at);
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        collect(item as object, form as AnyForms, { context, found, path: `${at}[${index}]` });
    } else if (typeof value === 'object') collect(value, form as AnyForms, { context, found, path: at });
    else found.push(at);
  }
}

function isCondition(form: unknown): form is Condition<unknown> {
  return typeof (form as Partial<Condition<unknown>>).holds === 'function';
}

/** A row of the documentation. */
export interface FormRow {
  readonly field: string;
  readonly form: 'yes' | 'no' | { readonly when: string };
}

/** Returns the rows of a table, without the fields inside of one that Envoy expresses completely. */
export function formRows(forms: object, path = ''): FormRow[] {
  return (Object.entries(forms) as [string, unknown][]).flatMap(([field, form]): FormRow[] => {
    const at = path === '' ? field : `${path}.${field}`;
    if (form === 'yes' || form === 'no') return [{ field: at, form }];
    if (isCondition(form)) return [{ field: at, form: { when: form.when } }];
    const rows = formRows(form as object, at);
    const isAll = (wanted: string): boolean => rows.every((row) => row.form === wanted);
    if (isAll('yes')) return [{ field: at, form: 'yes' }];
    return isAll('no') ? [{ field: at, form: 'no' }] : rows;
  });
}
