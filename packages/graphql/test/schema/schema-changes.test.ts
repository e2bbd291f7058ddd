import { silentLoggers, type Facts } from '@edge-gateway/core';
import { buildSchema } from 'graphql';
import { expect } from 'chai';
import { followSchema, SCHEMA_AGE_MS } from '../../src/remote/followed-schema.ts';
import { compareSchemas, type ChangeRule } from '../../src/schema/schema-changes.ts';

const BEFORE = 'type Query { a: Int b: String @deprecated } enum E { A } type Unused { x: Int }';

async function levels(after: string, ...rules: ChangeRule[]): Promise<string[]> {
  const changes = await compareSchemas(buildSchema(BEFORE), buildSchema(after), rules);
  return changes.map(({ level, path }) => `${level} ${path}`);
}

describe('changes of a schema', () => {
  it('are classified', async () => {
    const after = '"new" type Query { b: String @deprecated } enum E { A B } type Unused { x: Int }';
    expect(await levels(after)).to.deep.equal(['breaking Query.a', 'dangerous E.B', 'safe Query']);
    expect(await levels(BEFORE)).to.deep.equal([]);
  });

  it('are classified by the rules of the Settings', async () => {
    const wider = BEFORE.replace('{ A }', '{ A B }');
    expect(await levels(wider, 'RULE_DANGEROUS_TO_BREAKING')).to.deep.equal(['breaking E.B']);
    const gone = BEFORE.replace('b: String @deprecated', '');
    expect(await levels(gone)).to.deep.equal(['breaking Query.b']);
    expect(await levels(gone, 'RULE_DEPRECATED_FIELD_REMOVAL_DANGEROUS')).to.deep.equal(['dangerous Query.b']);
    expect(await levels(`"new" ${BEFORE}`, 'RULE_IGNORE_DESCRIPTION_CHANGES')).to.deep.equal([]);
    const unused = BEFORE.replace('x: Int', 'y: Int');
    expect(await levels(unused, 'RULE_IGNORE_UNREACHABLE')).to.deep.equal(['safe Unused.x', 'safe Unused.y']);
  });
});

describe('the schema of a server', () => {
  function following(changes: object) {
    const schemas = [BEFORE, BEFORE.replace('a: Int', 'a: String')];
    let now = 0;
    let asked = 0;
    const compared = Promise.withResolvers<void>();
    const followed = followSchema({
      ask: async () => ({ text: '', schema: buildSchema(schemas[Math.min(asked++, 1)]!) }),
      now: () => now,
      log: { ...silentLoggers.get('graphql'), warn: () => compared.resolve() },
      name: 'a',
      changes,
    });
    const facts = {} as Facts;
    return {
      followed,
      asked: () => asked,
      async refresh() {
        await followed.ready(facts);
        now += SCHEMA_AGE_MS + 1;
        await followed.ready(facts);
        await compared.promise;
        await new Promise((resolve) => setImmediate(resolve));
        return String(followed.schema!.getQueryType()!.getFields()['a']!.type);
      },
    };
  }

  it('is refreshed when it is stale', async () => {
    const { refresh, asked } = following({});
    expect(await refresh()).to.equal('String');
    expect(asked()).to.equal(2);
  });

  it('is kept if breaking changes are rejected', async () => {
    expect(await following({ rejectBreakingChanges: true }).refresh()).to.equal('Int');
  });

  it('is read once for concurrent requests', async () => {
    const { followed, asked } = following({});
    const facts = {} as Facts;
    await Promise.all([followed.ready(facts), followed.ready(facts), followed.ready(facts)]);
    expect(asked()).to.equal(1);
  });
});
