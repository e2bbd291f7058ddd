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
import type { ResultSize } from './result-size.ts';
import type { Paused } from './turns.ts';

/** Options of plans. */
export interface PlanContext {
  readonly schema: GraphQLSchema;
  /** Returns the resolver of a field; `undefined` reads the key of the parent. */
  resolverOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): ResolveField | undefined;
  /** Fields deeper than this are errors; 0 is no limit. */
  readonly maxDepth: number;
  /** `json`: plain JSON that must fit the type. `any`: what resolvers of GraphQL.js may return, converted as it does. */
  readonly values: 'json' | 'any';
}

/** Returns the value of a field. `place` is that of the parent. */
export type ResolveField = (
  parent: unknown,
  args: Readonly<Record<string, unknown>>,
  place: Place,
  field: FieldPlan,
) => unknown;

/** One field of a selection, with everything that does not depend on data. */
export interface FieldPlan {
  /** In the result. */
  readonly key: string;
  readonly name: string;
  /** All nodes that select it here; their arguments are equal. */
  readonly nodes: readonly FieldNode[];
  readonly definition: GraphQLField<unknown, unknown>;
  readonly parentType: GraphQLObjectType;
  readonly resolve: ResolveField | undefined;
  /** Missing if they contain variables, or resolvers may change them: then they are created for each call. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly complete: Complete;
  /** True if it needs no place for its value. */
  readonly leaf: boolean;
  readonly nullable: boolean;
  /** Of its key in the result, with punctuation. */
  readonly bytes: number;
  /** True if the key or the name is a property of `Object.prototype`. */
  readonly shadowsPrototype: boolean;
  readonly children: Children;
}

export type Selection = readonly FieldPlan[];

/** An operation that is ready to be executed. */
export interface Plan {
  readonly schema: GraphQLSchema;
  readonly selection: Selection;
  readonly fragments: GraphQLResolveInfo['fragments'];
  readonly values: PlanContext['values'];
}

/** The selections of the objects of a field by type. Fields with equal selections of the same type share them. */
export interface Children {
  /** Planned when the first object of the type arrives. */
  of(type: GraphQLObjectType): Selection;
  /** Returns those of all possible types; none for leaves. */
  all(): readonly Selection[];
}

/** Converts the value of a resolver to that of the result. `place` is that of the value; leaves get that of their parent. */
export type Complete = (value: unknown, field: FieldPlan, place: Place) => unknown;

/** A path in a result, the innermost key first. */
export type Path = GraphQLResolveInfo['path'];

/** The position of an object or value that is being completed. */
export interface Place {
  readonly path: Path | undefined;
  readonly run: Run;
}

/** Options of one execution. */
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
  /** Returns an error in another form; `undefined` for the default one. */
  errorOf?(error: unknown, at: Pick<ResultError, 'path' | 'locations'>): ResultError | undefined;
}

/** One execution of an operation. */
export interface Run {
  readonly operation: Operation;
  readonly plan: Plan;
  readonly variables: VariableValues | undefined;
  readonly options: RunOptions;
  readonly errors: ResultError[];
  readonly size: ResultSize;
  readonly paused: Paused;
}
