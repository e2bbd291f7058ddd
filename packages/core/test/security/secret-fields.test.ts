import { expect } from 'chai';
import { KINDS, isSecretName, redact, secretFields } from '../../src/index.ts';

const MARKER = 'MARKER-secret-value';

/** An object with the marker at the end of a path; `[]` is a list, `*` a map. */
function holding([step, ...rest]: readonly string[], end: unknown): unknown {
  if (step === undefined) return end;
  const inner = holding(rest, end);
  if (step === '[]') return [inner];
  return { [step === '*' ? 'any-name' : step]: inner };
}

interface Field {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly items?: Field;
  readonly additionalProperties?: Field | false;
  readonly 'x-secret'?: string;
  readonly title?: string;
}

/** Names of the text fields of a schema that are not marked as secret. */
function* plainTexts(field: Field, name = '', titles: readonly string[] = []): Generator<string> {
  if (field['x-secret'] || (field.title && titles.includes(field.title))) return;
  if (field.type === 'string') yield name;
  const seen = field.title ? [...titles, field.title] : titles;
  for (const [key, inner] of Object.entries(field.properties ?? {})) yield* plainTexts(inner, key, seen);
  if (field.items) yield* plainTexts(field.items, name, seen);
  if (field.additionalProperties) yield* plainTexts(field.additionalProperties, '', seen);
}

describe('the secret fields of the schemas', () => {
  for (const { kind, path, secrecy } of secretFields()) {
    it(`are hidden: ${kind} ${path.join('.')}`, () => {
      for (const value of [MARKER, `{"kty":"oct","k":"${MARKER}"}`, { any: MARKER }, [MARKER]]) {
        const body = holding(path, value) as object;
        for (const resource of [{ kind, ...body }, { kind, spec: body }, [{ kind, spec: body }]]) {
          expect(JSON.stringify(redact(resource)), secrecy).to.not.contain(MARKER);
        }
      }
    });
  }

  it('include all fields with names of secrets', () => {
    const unmarked = [...KINDS.values()].flatMap(({ kind, schema }) =>
      [...plainTexts(schema as unknown as Field)].filter(isSecretName).map((name) => `${kind} ${name}`),
    );
    expect(unmarked).to.deep.equal([]);
  });
});
