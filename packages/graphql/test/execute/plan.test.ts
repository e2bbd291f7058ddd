import { expect } from 'chai';
import { buildSchema, getVariableValues, Kind, parse, type OperationDefinitionNode } from 'graphql';
import type { Operation } from '../../src/document/documents.ts';
import type { Selection } from '../../src/execute/field-plan.ts';
import { planOperation } from '../../src/execute/plan.ts';
import { createPlans } from '../../src/execute/plans.ts';
import { isRefusal } from '../../src/errors/refusal.ts';

const KINDS = Array.from({ length: 100 }, (_, i) => `T${i}`);
const schema = buildSchema(`
  type Query { nodes: [Node] any: Any }
  interface Node { id: ID nodes: [Node] }
  union Any = ${KINDS.join(' | ')}
  ${KINDS.map((kind) => `type ${kind} implements Node { id: ID nodes: [Node] }`).join('\n')}
`);
const CONTEXT = { schema, maxDepth: 0, values: 'json', resolverOf: () => undefined } as const;
const typeOf = (name: string) => schema.getType(name) as Parameters<Selection[number]['children']['of']>[0];

function operationOf(text: string): Operation {
  const document = parse(text);
  const definition = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return { document, definition: definition as OperationDefinitionNode, text, name: undefined };
}

/** The field of this key at the top, and what was planned so far, as `Type.field`. */
function planned(text: string) {
  const places: string[] = [];
  const resolverOf = (type: { name: string }, field: { name: string }): undefined =>
    void places.push(`${type.name}.${field.name}`);
  const { selection } = planOperation(operationOf(text), { ...CONTEXT, resolverOf }, undefined);
  return { places, selection, field: (key: string) => selection.find((field) => field.key === key)! };
}

describe('the plan of an operation', () => {
  it('plans each object type of an interface once, when its first object arrives', () => {
    const { places, field } = planned('{ nodes { id nodes { id nodes { id } } } }');
    expect(places).to.deep.equal(['Query.nodes']);
    const { children } = field('nodes');
    const seventh = children.of(typeOf('T7'));
    expect(places.splice(1)).to.deep.equal(['T7.id', 'T7.nodes']);
    expect(children.of(typeOf('T7'))).to.equal(seventh);
    const third = children.of(typeOf('T3'));
    expect(places.splice(1)).to.deep.equal(['T3.id', 'T3.nodes']);
    const [one, other] = [seventh, third].map((fields) => fields[1]!.children);
    expect(one).to.equal(other);
    expect(one!.of(typeOf('T7')).map(({ key }) => key)).to.deep.equal(['id', 'nodes']);
    expect(places.splice(1)).to.deep.equal(['T7.id', 'T7.nodes']);
  });

  it('returns all possible types, and none for leaves', () => {
    const { field } = planned('{ any { ... on Node { id } } nodes { id } }');
    const all = field('any').children.all();
    expect(all).to.have.length(KINDS.length);
    expect(all[0]![0]!.children.all()).to.deep.equal([]);
  });

  it('keeps the variables of conditions for fields that are planned later', () => {
    const operation = operationOf(
      'query ($a: Boolean!, $b: Boolean!, $id: ID) { nodes { id @include(if: $a) nodes @skip(if: $b) { id } } }',
    );
    const definitions = operation.definition.variableDefinitions!;
    const planOf = createPlans(CONTEXT);
    const plan = (a: boolean, b: boolean) => {
      const { variableValues } = getVariableValues(schema, definitions, { a, b, id: 'x' });
      const made = planOf(operation, variableValues);
      if (isRefusal(made)) throw new Error(made.code);
      return made;
    };
    const keys = ({ selection }: { selection: Selection }): string[] =>
      selection[0]!.children.of(typeOf('T1')).map(({ key }) => key);
    const plans = [plan(true, true), plan(false, false), plan(true, false), plan(false, true)];
    expect(plans.map(keys)).to.deep.equal([['id'], ['nodes'], ['id', 'nodes'], []]);
    expect(plan(true, true)).to.equal(plans[0]);
  });

  it('rejects a condition that is null', () => {
    const planOf = createPlans(CONTEXT);
    const operation = operationOf('query ($a: Boolean = true) { nodes { id @skip(if: $a) } }');
    const plan = (given: object) =>
      planOf(
        operation,
        getVariableValues(schema, operation.definition.variableDefinitions!, { ...given }).variableValues,
      );
    expect(plan({ a: null })).to.have.property('code', 'ERR_GRAPHQL_VARIABLES');
    expect(plan({})).to.have.property('selection');
  });
});
