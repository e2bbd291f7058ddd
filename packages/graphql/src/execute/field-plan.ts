import type {
  FieldNode,
  GraphQLField,
  GraphQLObjectType,
  GraphQLResolveInfo,
  GraphQLSchema,
  VariableValues,
} from 'graphql';
import type { ResultError } from './executable-api.ts';
import type { Operation } from '../document/documents.ts';

/** What plans are made from. */
export interface PlanContext {
  readonly schema: GraphQLSchema;
  /** The resolver of a field; `undefined` reads the key of the parent. */
  resolverOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): ResolveField | undefined;
  /** Fields deeper than this are errors; 0 is no limit. */
  readonly maxDepth: number;
  /** `json`: plain JSON that must fit the type. `any`: what resolvers of GraphQL.js may return, converted as it does. */
  readonly values: 'json' | 'any';
}

/** Returns the value of a field that is not simply a key of its parent. `place` is that of the parent. */
export type ResolveField = (
  parent: unknown,
  args: Readonly<Record<string, unknown>>,
  place: Place,
  field: FieldPlan,
) => unknown;

/** One field of a selection, with all that does not depend on data. */
export interface FieldPlan {
  /** In the result. */
  readonly key: string;
  readonly name: string;
  /** All that select it here; their arguments are the same. */
  readonly nodes: readonly FieldNode[];
  readonly definition: GraphQLField<unknown, unknown>;
  readonly parentType: GraphQLObjectType;
  readonly resolve: ResolveField | undefined;
  /** Those without variables; else, and for resolvers that may change them, they are made for each call. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly complete: Complete;
  /** Has no place of its own below it. */
  readonly leaf: boolean;
  readonly nullable: boolean;
  /** True if the key or the name is a property of `Object.prototype`. */
  readonly shadowsPrototype: boolean;
  readonly children: Children;
}

export type Selection = readonly FieldPlan[];

/** An operation ready to run. */
export interface Plan {
  readonly schema: GraphQLSchema;
  readonly selection: Selection;
  readonly fragments: GraphQLResolveInfo['fragments'];
}

/** What is selected of the objects below a field, by their type. Fields that select the same of the same type share it. */
export interface Children {
  /** Planned when the first object of the type comes. */
  of(type: GraphQLObjectType): Selection;
  /** Those of all types that may come; none for leaves. */
  all(): readonly Selection[];
}

/** Converts the value of a resolver to that of the result. `place` is that of the value; leaves get that of their parent. */
export type Complete = (value: unknown, field: FieldPlan, place: Place) => unknown;

/** A place in a result, from the inside out. */
export type Path = GraphQLResolveInfo['path'];

/** Where an object stands whose fields are completed, or a value that is being completed. */
export interface Place {
  readonly path: Path | undefined;
  readonly run: Run;
}

/** What the caller of an operation adds to it. */
export interface RunOptions {
  /** Parent of the fields of the operation itself. */
  readonly rootValue: unknown;
  /** Third argument of resolvers. */
  readonly context: unknown;
  readonly signal: AbortSignal;
  /** In the extensions of errors. */
  readonly requestId: string;
  /** Receives each failure, with the reason that clients do not see. */
  onFailure?(reason: string, path: readonly (string | number)[]): void;
  /** Called after each field of a mutation. */
  afterField?(): void;
  /** Renders an error in its own way; `undefined` for the usual one. */
  errorOf?(error: unknown, at: Pick<ResultError, 'path' | 'locations'>): ResultError | undefined;
}

/** One operation under way. */
export interface Run {
  readonly operation: Operation;
  readonly plan: Plan;
  readonly variables: VariableValues | undefined;
  readonly options: RunOptions;
  readonly errors: ResultError[];
}
