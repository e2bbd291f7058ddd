import { STAGES, type Concern, type Context, type Handler, type Scope } from '@edge-gateway/core';

/** The options of the levels that apply to a request, the most specific first. */
export type OptionLevels = readonly (Readonly<Record<string, unknown>> | undefined)[];

/** Sorts concerns by stage; those of one stage keep their order. */
export function orderConcerns(concerns: readonly Concern[]): Concern[] {
  return [...concerns].sort((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage));
}

const EMPTY: readonly Handler[] = [];

export interface ChainInput {
  readonly concerns: readonly Concern[];
  /** Blocks of the listener by the option of their concern. */
  readonly listenerOptions: Readonly<Record<string, unknown>>;
}

/**
 * Compiles the concerns of the routes of one virtual host; the same block is compiled once. If a concern does not pick its
 * block itself, the most specific one replaces the others; that of the listener is the least specific.
 */
export function createChainCompiler({ concerns, listenerOptions }: ChainInput, context: Context, scope: Scope) {
  const handlers = new Set<Handler>();
  const beforeRouting = concerns.filter(({ stage }) => stage !== 'postRouting');
  const afterRouting = concerns.filter(({ stage }) => stage === 'postRouting');
  const compiled = new Map<Concern, Map<unknown, Handler | undefined>>();

  function handlerOf(concern: Concern, block: unknown): Handler | undefined {
    let blocks = compiled.get(concern);
    if (!blocks) compiled.set(concern, (blocks = new Map()));
    if (blocks.has(block)) return blocks.get(block);
    const handler = concern.compile(block, context, scope);
    blocks.set(block, handler);
    if (handler) handlers.add(handler);
    return handler;
  }

  return {
    handlers,
    /** Throws what a concern throws. */
    compile(levels: OptionLevels): readonly Handler[] {
      return chainOf(beforeRouting, levels);
    },
    /** The handlers that run after the endpoint is chosen; `undefined` if there are none. Throws what a concern throws. */
    compilePostRouting(levels: OptionLevels): readonly Handler[] | undefined {
      const postRouting = chainOf(afterRouting, levels);
      return postRouting === EMPTY ? undefined : postRouting;
    },
  };

  function chainOf(chosen: readonly Concern[], levels: OptionLevels): readonly Handler[] {
    if (chosen.length === 0) return EMPTY;
    const chain: Handler[] = [];
    const ascending = leastSpecificFirst(levels);
    for (const concern of chosen) {
      const block = blockOf(concern, levels, ascending) ?? listenerOptions[concern.option];
      const handler = block === undefined ? undefined : handlerOf(concern, block);
      if (handler) chain.push(handler);
    }
    return chain.length === 0 ? EMPTY : chain;
  }
}

/** Returns the handlers that filter responses. */
export function filtersOf(chain: readonly Handler[]): readonly Handler[] | undefined {
  if (chain.length === 0) return undefined;
  const filters = chain.filter(({ filterResponse }) => filterResponse);
  return filters.length === 0 ? undefined : filters;
}

/** Returns the block that a concern compiles for a route; `undefined` if no level and no listener has one. */
export function blockFor(
  concern: Concern,
  levels: OptionLevels,
  listenerOptions: ChainInput['listenerOptions'],
): unknown {
  return blockOf(concern, levels, leastSpecificFirst(levels)) ?? listenerOptions[concern.option];
}

/** `ascending` has the levels in the order of {@link leastSpecificFirst}: all concerns of a route share it. */
function blockOf(concern: Concern, levels: OptionLevels, ascending: readonly object[]): unknown {
  if (concern.pick) return concern.pick(ascending);
  for (const level of levels) {
    const block = level?.[concern.option];
    if (block !== undefined) return block;
  }
  return undefined;
}

function leastSpecificFirst(levels: OptionLevels): readonly object[] {
  return levels.toReversed().map((level) => level ?? NO_OPTIONS);
}

const NO_OPTIONS = Object.freeze({});
