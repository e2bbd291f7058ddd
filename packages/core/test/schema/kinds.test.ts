import { Ajv } from 'ajv';
import { expect } from 'chai';
import { KIND_NAMES } from '../../src/resource/resource.ts';
import { resourceSchema } from '../../src/schema/json-schema.ts';
import { KINDS, findKind } from '../../src/schema/kinds.ts';

type Schema = Record<string, any>;

/** Every schema below one, with the way to it; blocks that contain themselves end at their reference. */
function* walk(schema: Schema, path: string): Generator<[string, Schema]> {
  yield [path, schema];
  for (const [key, field] of Object.entries(schema['properties'] ?? {})) yield* walk(field as Schema, `${path}.${key}`);
  if (schema['items']) yield* walk(schema['items'], `${path}[]`);
  const values = schema['additionalProperties'];
  if (typeof values === 'object') yield* walk(values, `${path}.<key>`);
}

const everything = [...KINDS.values()].flatMap(({ kind, schema }) => [...walk(schema as Schema, kind)]);

describe('the kinds', () => {
  it('are the kinds of resources', () => {
    expect([...KINDS.keys()].toSorted()).deep.equal([...KIND_NAMES].toSorted());
  });

  it('are found by name, plural and short name', () => {
    for (const word of ['VirtualService', 'virtualservices', 'vs', 'GVS']) {
      expect(findKind(word)?.kind).equal('VirtualService');
    }
    expect(findKind('gw')?.kind).equal('Gateway');
    expect(findKind('pod')).equal(undefined);
  });

  it('accept Settings in both groups', () => {
    expect(KINDS.get('Settings')?.apiVersions).deep.equal(['settings.gw.vendor.io/v1', 'gw.vendor.io/v1']);
  });
});

describe('the schemas', () => {
  it('describe every field with a sentence', () => {
    const silent = everything.flatMap(([path, { properties = {} }]) =>
      Object.entries(properties as Schema)
        .filter(([, field]) => !/^[A-Z`].*[.]$/s.test((field as Schema)['description'] ?? ''))
        .map(([key]) => `${path}.${key}`),
    );
    expect(silent).deep.equal([]);
  });

  it('have five levels of support', () => {
    const levels = new Set(everything.map(([, schema]) => schema['x-support'] ?? 'yes'));
    expect([...levels].toSorted()).deep.equal(['kubernetes', 'notYet', 'rejected', 'unsupported', 'yes']);
  });

  it('use each block name once', () => {
    const blocks = new Map<string, object>();
    for (const [path, { title, properties }] of everything) {
      if (title === undefined) continue;
      expect(blocks.get(title) ?? properties, `${title} at ${path}`).equal(properties);
      blocks.set(title, properties);
    }
    expect(blocks.size).greaterThan(80);
  });

  it('refer only to known fields in one-ofs, required lists and keys beside options', () => {
    for (const [path, schema] of everything) {
      const known = Object.keys(schema['properties'] ?? {});
      const members = (schema['x-oneof'] ?? []).flatMap((rule: { members: string[] }) => rule.members);
      expect(known, path).include.members([...members, ...(schema['x-required'] ?? [])]);
      const inside = Object.keys(schema['properties']?.['options']?.properties ?? {});
      expect(inside, path).include.members(schema['x-hoisted'] ?? []);
    }
  });

  it('have defaults of the right type', () => {
    const ajv = new Ajv({ strict: false });
    for (const [path, schema] of everything) {
      if (schema['default'] === undefined || schema['properties']) continue;
      expect(ajv.validate(schema as object, schema['default']), path).equal(true);
    }
  });

  for (const info of KINDS.values()) {
    it(`generate a JSON Schema of ${info.kind} for editors`, () => {
      const schema = resourceSchema(info);
      const validate = new Ajv({ strict: false }).compile(schema);
      const frame = { apiVersion: info.apiVersions[0], kind: info.kind, metadata: { name: 'x' } };
      const required = info.kind === 'AuthConfig' ? { spec: { configs: [] } } : {};
      expect(validate({ ...frame, ...required }), JSON.stringify(validate.errors)).equal(true);
      expect(validate({ ...frame, ...required, speck: {} })).equal(false);
      expect(validate({ ...frame, kind: 'Other' })).equal(false);
    });
  }

  it('accept fields beside options and enums by number in editors', () => {
    const validate = new Ajv({ strict: false }).compile(resourceSchema(KINDS.get('VirtualService')!));
    const route = { redirectAction: { responseCode: 3 }, rbac: { disable: true }, jwt: { disable: true } };
    const spec = { virtualHost: { headerManipulation: { requestHeadersToRemove: ['x'] }, routes: [route] } };
    const resource = { apiVersion: 'gateway.vendor.io/v1', kind: 'VirtualService', metadata: { name: 'x' }, spec };
    expect(validate(resource), JSON.stringify(validate.errors)).equal(true);
  });
});
