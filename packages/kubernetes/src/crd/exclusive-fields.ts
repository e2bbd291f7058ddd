import type { SchemaNode } from '@edge-gateway/core';

type Rule = NonNullable<SchemaNode['x-oneof']>[number];

/** The fields of a block, and whether it appears exactly once in a resource. */
interface ExclusiveIn {
  readonly fields: Readonly<Record<string, SchemaNode>>;
  readonly isSingle: boolean;
}

/** Words that a field of an expression must not be written as. */
const CEL_KEYWORDS: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
);

/**
 * Returns the part of a structural schema that rejects resources with several fields of a group, or none where one is
 * required. Blocks that appear once have expressions, with a message that lists the fields. The API server limits the cost
 * of expressions by the number of blocks that a resource could have, so blocks in lists have a `oneOf` instead.
 */
export function exclusiveFields(rules: readonly Rule[], { fields, isSingle }: ExclusiveIn): object {
  const relevant = rules.filter(({ members, required = false }) => members.length > 1 || required);
  const byExpression = relevant.filter((rule) => isSingle && rule.members.every((member) => isTyped(fields[member])));
  const bySchema = relevant.filter((rule) => !byExpression.includes(rule)).map(alternatives);
  return {
    ...(bySchema.length === 1 && bySchema[0]),
    ...(bySchema.length > 1 && { allOf: bySchema }),
    ...(byExpression.length > 0 && { 'x-kubernetes-validations': byExpression.flatMap(expressions) }),
  };
}

/** Expressions can only refer to fields with a type. */
function isTyped(field: SchemaNode | undefined): boolean {
  return field !== undefined && (field.enum !== undefined || typeof field.type === 'string');
}

function expressions({ members, required = false, message }: Rule): object[] {
  const present = members.map((member) => `has(self.${CEL_KEYWORDS.has(member) ? `__${member}__` : member})`);
  const count = present.map((test) => `(${test} ? 1 : 0)`).join(' + ');
  const names = members.join(', ');
  return [
    ...(members.length > 1 ? [{ rule: `${count} <= 1`, message: `only one of ${names} can be set` }] : []),
    ...(required
      ? [{ rule: present.join(' || '), message: `${message ?? 'one field is missing'}: set ${names}` }]
      : []),
  ];
}

function alternatives({ members, required = false }: Rule): { oneOf: object[] } {
  const each = members.map((member) => ({ required: [member] }));
  return { oneOf: [...(required ? [] : [{ not: { anyOf: each } }]), ...each] };
}
