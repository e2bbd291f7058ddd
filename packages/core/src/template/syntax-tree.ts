import type { Value } from './value.ts';

/** Operators between two values. */
export type BinaryOperator =
  | 'and'
  | 'or'
  | 'in'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '^';

/** An expression. `at` is an offset in the template. */
export type Expression =
  | { readonly type: 'literal'; readonly value: Value }
  | { readonly type: 'variable'; readonly name: string }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly type: 'not'; readonly operand: Expression }
  | {
      readonly type: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    };

/** One branch of an `if`; the last may have no test. */
export interface Branch {
  readonly test: Expression | undefined;
  readonly body: readonly Statement[];
}

/** A statement of a template. */
export type Statement =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'output'; readonly value: Expression }
  | { readonly type: 'set'; readonly name: string; readonly value: Expression }
  | { readonly type: 'if'; readonly branches: readonly Branch[] }
  | {
      readonly type: 'for';
      /** Set if the loop runs over the members of an object. */
      readonly key: string | undefined;
      readonly item: string;
      readonly list: Expression;
      readonly body: readonly Statement[];
    };

/** The inputs that a template uses. */
export interface Uses {
  /** First steps of variables that the template does not set itself. */
  readonly variables: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
}
