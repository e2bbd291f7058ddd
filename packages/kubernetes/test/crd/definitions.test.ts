import { expect } from 'chai';
import { KINDS } from '@edge-gateway/core';
import { customResourceDefinitions } from '../../src/crd/definitions.ts';

interface Version {
  readonly subresources: object;
  readonly additionalPrinterColumns: readonly { readonly name: string; readonly priority?: number }[];
  readonly schema: { readonly openAPIV3Schema: Node };
}

interface Node {
  readonly [key: string]: any;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node;
}

/** Calls `visit` for a schema and everything in it, with the path. */
function walk(node: Node, visit: (node: Node, path: string) => void, path = ''): void {
  visit(node, path);
  for (const [key, field] of Object.entries(node.properties ?? {})) walk(field, visit, `${path}.${key}`);
  if (node.items) walk(node.items, visit, `${path}[]`);
  if (node.additionalProperties) walk(node.additionalProperties, visit, `${path}.*`);
}

const definitions = customResourceDefinitions();

function schemaOf(name: string): Node {
  const definition = definitions.find(({ metadata }) => metadata.name === name)!;
  return (definition.spec['versions'] as Version[])[0]!.schema.openAPIV3Schema;
}

describe('customResourceDefinitions', () => {
  it('defines every kind of the gateway in its preferred group, and no kind of Kubernetes', () => {
    const expected = [...KINDS.values()]
      .filter(({ body }) => !body)
      .map(({ plural, apiVersions }) => `${plural}.${apiVersions[0]!.split('/')[0]}`);
    expect(definitions.map(({ metadata }) => metadata.name)).to.have.members(expected);
    expect(expected).to.include('settings.settings.gw.vendor.io');
  });

  it('names kinds as kubectl users write them', () => {
    const { names } = definitions.find(({ metadata }) => metadata.name === 'virtualservices.gateway.vendor.io')!
      .spec as any;
    expect(names).to.deep.equal({
      kind: 'VirtualService',
      listKind: 'VirtualServiceList',
      plural: 'virtualservices',
      singular: 'virtualservice',
      shortNames: ['vs', 'gvs'],
      categories: ['edge-gateway'],
    });
  });

  for (const { metadata, spec } of definitions) {
    const [version] = spec['versions'] as [Version];
    const schema = version.schema.openAPIV3Schema;

    it(`${metadata.name}: the schema is structural`, () => {
      walk(schema, (node, path) => {
        const isFree = node['x-kubernetes-preserve-unknown-fields'] === true;
        const isTyped = node['type'] !== undefined || node['x-kubernetes-int-or-string'] === true || isFree;
        expect(isTyped, path).to.equal(true);
        expect(node, path).to.not.have.any.keys('$ref', '$defs', 'definitions');
        expect(Array.isArray(node['type']), path).to.equal(false);
        if (node['type'] === 'array') expect(node.items, path).to.be.an('object');
      });
    });

    it(`${metadata.name}: has a status, and columns for state and age`, () => {
      expect(version.subresources).to.deep.equal({ status: {} });
      const shown = version.additionalPrinterColumns.filter(({ priority }) => priority === undefined);
      expect(shown.map(({ name }) => name).slice(-2)).to.deep.equal(['State', 'Age']);
      expect(schema.properties!['status']!.properties).to.have.property('statuses');
    });

    it(`${metadata.name}: describes its fields`, () => {
      const undescribed = new Set<string>();
      for (const [key, field] of Object.entries(schema.properties!['spec']!.properties ?? {}))
        if (field['description'] === undefined) undescribed.add(key);
      expect([...undescribed]).to.deep.equal([]);
    });
  }

  it('writes recursive blocks out, down to a level where any content is accepted', () => {
    let node: Node = schemaOf('ratelimitconfigs.ratelimit.vendor.io').properties!['spec']!.properties!['raw']!;
    let levels = 0;
    while (node.properties?.['descriptors']) {
      node = node.properties['descriptors'].items!;
      levels += 1;
    }
    expect(levels).to.be.at.least(4);
    expect(node).to.include({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
  });

  it('accepts names and numbers of an enum', () => {
    const field = schemaOf('upstreams.gw.vendor.io').properties!['spec']!.properties!['protocolSelection']!;
    expect(field).to.deep.include({
      'x-kubernetes-int-or-string': true,
      enum: ['USE_CONFIGURED_PROTOCOL', 'USE_DOWNSTREAM_PROTOCOL', 0, 1],
    });
    expect(field['description']).to.match(/ Default: USE_CONFIGURED_PROTOCOL\.$/);
  });

  it('accepts numbers of 64 bits as text too', () => {
    const { loadBalancerConfig } = schemaOf('upstreams.gw.vendor.io').properties!['spec']!.properties!;
    const { ringHashConfig } = loadBalancerConfig!.properties!['ringHash']!.properties!;
    expect(ringHashConfig!.properties!['minimumRingSize']).to.deep.include({
      'x-kubernetes-int-or-string': true,
      pattern: '^-?(0|[1-9][0-9]{0,19})$',
      minimum: 1,
      maximum: 8388608,
    });
  });

  it('writes no defaults into resources', () => {
    for (const { metadata } of definitions)
      walk(schemaOf(metadata.name), (node, path) => expect(node, path).to.not.have.property('default'));
  });

  it('accepts fields that may also be written beside options', () => {
    const { options } = schemaOf('routetables.gateway.vendor.io').properties!['spec']!.properties!['routes']!.items!
      .properties!;
    expect(options!.properties).to.include.keys('prefixRewrite', 'timeout');
  });
});
