import { Ajv } from 'ajv';
import { expect } from 'chai';
import { parseDocuments } from '../../../src/parse/parse.ts';
import type { Kind } from '../../../src/resource/resource.ts';
import { KINDS } from '../../../src/schema/kinds.ts';
import { resourceSchema } from '../../../src/schema/json-schema.ts';
import type { SchemaNode } from '../../../src/schema/field.ts';
import { DocumentReport } from '../../../src/validate/document-report.ts';
import { normalise } from '../../../src/validate/types/normalise.ts';

/** A field of 64 bits: its kind, the way to it and its smallest value. */
interface Field {
  readonly kind: Kind;
  readonly path: readonly string[];
  readonly minimum: number;
}

/** The fields of 64 bits below a schema; blocks that contain themselves end at their reference. */
function* fieldsOf(node: SchemaNode, kind: Kind, path: readonly string[]): Generator<Field> {
  if (node['x-format'] === 'int64') yield { kind, path, minimum: node.minimum! };
  for (const [key, field] of Object.entries(node.properties ?? {})) yield* fieldsOf(field, kind, [...path, key]);
  if (node.items) yield* fieldsOf(node.items, kind, [...path, '[]']);
  if (node.additionalProperties) yield* fieldsOf(node.additionalProperties, kind, [...path, '*']);
}

const fields = [...KINDS.values()].flatMap(({ kind, schema }) => [...fieldsOf(schema, kind, [])]);

/** A content in which only the field at `path` is set. */
function holding(path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return value;
  const inner = holding(path.slice(1), value);
  return path[0] === '[]' ? [inner] : { [path[0]!]: inner };
}

/** The value at `path`. */
const valueAt = (content: unknown, path: readonly string[]): unknown =>
  path.reduce<any>((value, step) => value[step === '[]' ? 0 : step], content);

function normalised({ kind, path }: Field, value: unknown) {
  const report = new DocumentReport(parseDocuments('{}', 'a.yaml')[0]!);
  const { spec } = normalise(KINDS.get(kind)!.schema, { written: holding(path, value), at: ['spec'] }, report);
  const at = ['spec', ...path.map((step) => (step === '[]' ? 0 : step))].join('.');
  const problems = report.issues.filter((issue) => issue.path.join('.') === at && issue.severity === 'error');
  return { value: valueAt(spec, path), problems: problems.map(({ code, message }) => `${code}: ${message}`) };
}

describe('numbers of 64 bits', () => {
  it('are these fields', () => {
    const names = new Set(
      fields.map(({ path }) =>
        path
          .slice(path.lastIndexOf('[]') + 1)
          .slice(-2)
          .join('.'),
      ),
    );
    expect([...names].toSorted()).to.deep.equal([
      'connectionLimit.maxActiveConnections',
      'end',
      'intValue',
      'level',
      'name',
      'rangeMatch.end',
      'rangeMatch.start',
      'ringHashConfig.maximumRingSize',
      'ringHashConfig.minimumRingSize',
      'start',
    ]);
  });

  it('are written as numbers or as decimal text, everywhere', () => {
    for (const field of fields) {
      const smallest = Math.max(field.minimum, 0);
      const at = `${field.kind}.${field.path.join('.')}`;
      for (const written of [smallest, String(smallest)])
        expect(normalised(field, written), at).to.deep.equal({ value: smallest, problems: [] });
    }
  });

  it('are rejected if they are no decimal numbers, everywhere', () => {
    for (const field of fields)
      for (const written of [
        '',
        ' 200',
        '200 ',
        '+200',
        '0200',
        '2e2',
        '2.5',
        '0x10',
        '200s',
        '2'.repeat(5000),
        true,
        2.5,
      ])
        expect(normalised(field, written).problems.join(), `${field.path.join('.')}: ${String(written)}`).to.match(
          /^WRONG_TYPE: must be a whole number/,
        );
  });

  it('are rejected out of range, and if a number cannot keep their digits', () => {
    for (const field of fields)
      for (const written of ['9007199254740993', '18446744073709551615', '-9223372036854775808', 2 ** 53])
        expect(normalised(field, written).problems.join(), `${field.path.join('.')}: ${written}`).to.match(
          /^OUT_OF_RANGE: must be at (least|most) -?\d+( and at most \d+)?, got -?\d+$/,
        );
    const ring = fields.find(({ path }) => path.at(-1) === 'minimumRingSize');
    expect(normalised(ring!, '0').problems).to.deep.equal([
      'OUT_OF_RANGE: must be at least 1 and at most 8388608, got 0',
    ]);
    expect(normalised(ring!, '8388609').problems).to.deep.equal([
      'OUT_OF_RANGE: must be at least 1 and at most 8388608, got 8388609',
    ]);
  });

  it('know no negative zero', () => {
    const level = fields.find(({ path }) => path.at(-1) === 'level')!;
    expect(Object.is(normalised(level, '-0').value, 0)).to.equal(true);
  });

  it('are accepted as both by the JSON Schema', () => {
    const isValid = new Ajv({ strict: false }).compile(resourceSchema(KINDS.get('Upstream')!));
    const sized = (minimumRingSize: unknown) => ({
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name: 'x' },
      spec: { loadBalancerConfig: { ringHash: { ringHashConfig: { minimumRingSize } } } },
    });
    for (const right of [200, '200']) expect(isValid(sized(right)), String(right)).to.equal(true);
    for (const wrong of [0, '2e2', '', true]) expect(isValid(sized(wrong)), String(wrong)).to.equal(false);
  });
});
