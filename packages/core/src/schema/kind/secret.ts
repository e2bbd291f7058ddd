import * as f from '../field.ts';

const fields = f.block({
  type: f.text('Type of the secret, e.g. `kubernetes.io/tls`, `extauth.vendor.io/oauth`.', { default: 'Opaque' }),
  data: f.map(f.text(), 'Values as base64, by key.', f.secret),
  stringData: f.map(f.text(), 'Values as text, by key. They override `data`.', f.secret),
  immutable: f.flag('Accepted without effect.'),
});
/** A Secret without its metadata. Normalization merges `stringData` into `data`. */
export interface SecretSpec extends f.Static<typeof fields> {}
export const SecretSpec = f.named<SecretSpec>('SecretSpec', fields);

const configMap = f.block({
  data: f.map(f.text(), 'Values as text, by key.'),
  binaryData: f.map(f.text(), 'Values as base64, by key.'),
  immutable: f.flag('Accepted without effect.'),
});
/** A ConfigMap without its metadata. */
export interface ConfigMapSpec extends f.Static<typeof configMap> {}
export const ConfigMapSpec = f.named<ConfigMapSpec>('ConfigMapSpec', configMap);
