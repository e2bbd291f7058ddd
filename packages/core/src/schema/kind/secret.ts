import { bool, block, map, named, secret, text, type Static } from '../field.ts';

const fields = block({
  type: text('Type of the secret, e.g. `kubernetes.io/tls`, `extauth.vendor.io/oauth`.', { default: 'Opaque' }),
  data: map(text(), 'Values as base64, by key.', secret),
  stringData: map(text(), 'Values as text, by key. They override `data`.', secret),
  immutable: bool('Accepted without effect.', { default: false }),
});
/** A Secret without its metadata. Normalization merges `stringData` into `data`. */
export interface SecretSpec extends Static<typeof fields> {}
export const SecretSpec = named<SecretSpec>('SecretSpec', fields);

const configMap = block({
  data: map(text(), 'Values as text, by key.'),
  binaryData: map(text(), 'Values as base64, by key.'),
  immutable: bool('Accepted without effect.', { default: false }),
});
/** A ConfigMap without its metadata. */
export interface ConfigMapSpec extends Static<typeof configMap> {}
export const ConfigMapSpec = named<ConfigMapSpec>('ConfigMapSpec', configMap);
