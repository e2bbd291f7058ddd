import type { IncomingMessage } from 'node:http';
import { factsOf, type Facts } from '@edge-gateway/core';
import type { GraphQLResolveInfo } from 'graphql';
import type { Limits } from '../document/limits.ts';
import { CallBudget, Calls } from '../resolvers/calls.ts';
import type { ResolverRun } from '../resolvers/resolver.ts';
import { traceOf } from '../observe/span.ts';

export type RunOf = (context: unknown, info: GraphQLResolveInfo) => ResolverRun;

interface Operation {
  readonly budget: CallBudget;
  readonly facts: Facts;
  readonly runs: Map<string, ResolverRun>;
}

/** Keeps the runs of operations by their variable values, which are new for each. Fields of mutations have their own run. */
export function createForeignRuns(limits: Limits): RunOf {
  const operations = new WeakMap<object, Operation>();

  function operationOf(context: unknown, { variableValues }: GraphQLResolveInfo): Operation {
    let found = operations.get(variableValues);
    if (!found) {
      found = { budget: new CallBudget(limits), facts: factsIn(context), runs: new Map() };
      operations.set(variableValues, found);
    }
    return found;
  }

  return (context, info) => {
    const { budget, facts, runs } = operationOf(context, info);
    const { operation } = info.operation;
    const part = operation === 'mutation' ? rootKey(info) : '';
    let run = runs.get(part);
    if (!run) {
      const calls = new Calls(budget, signalOf(context, info));
      runs.set(part, (run = { facts, operation, calls, trace: traceOf(facts) }));
    }
    return run;
  };
}

function rootKey({ path }: GraphQLResolveInfo): string {
  let at = path;
  while (at.prev) at = at.prev;
  return String(at.key);
}

interface ServerContext {
  readonly facts?: Facts;
  readonly req?: IncomingMessage;
  readonly request?: Request;
  readonly signal?: AbortSignal;
}

function contextOf(value: unknown): ServerContext {
  return typeof value === 'object' && value !== null ? value : {};
}

function factsIn(value: unknown): Facts {
  const { facts, req, request } = contextOf(value);
  if (facts) return facts;
  if (req?.headers) return factsOf(req);
  const headers = typeof request?.headers?.get === 'function' ? Object.fromEntries(request.headers) : {};
  const url = request ? new URL(request.url, 'http://localhost') : undefined;
  const { method = 'POST' } = request ?? {};
  return factsOf({ headers, method, url: url ? `${url.pathname}${url.search}` : '/' } as IncomingMessage);
}

function signalOf(value: unknown, info: GraphQLResolveInfo): AbortSignal {
  const { signal, request } = contextOf(value);
  // Executors of other libraries have `signal` where GraphQL.js has a function.
  const { getAbortSignal, signal: own } = info as Partial<GraphQLResolveInfo> & { readonly signal?: AbortSignal };
  return getAbortSignal?.() ?? own ?? signal ?? request?.signal ?? new AbortController().signal;
}
