import { parseTemplate, readsClient } from '../../template/expression.ts';
import { isRecord } from '../../document/json.ts';
import { FieldFailure } from '../../errors/field-failure.ts';
import { renderValue, textOf } from '../../template/render.ts';
import { rootsOf, type Resolver, type ResolverContext, type ResolverRun } from '../resolver.ts';
import { compileResponse } from './response.ts';
import { createRestCaller } from './rest-resolver.ts';
import { compileRestTemplate, type RestResolver } from './rest-request.ts';

export const DEFAULT_MAX_KEYS = 100;

type Waiting = Map<string, { readonly key: unknown; readonly answer: PromiseWithResolvers<unknown> }>;

/** Compiles a resolver whose service accepts many keys: the fields of a list share one request, equal keys once. */
export function compileBatched(rest: RestResolver, name: string, context: ResolverContext): Resolver {
  const { key: written = '', keyField, maxKeys = DEFAULT_MAX_KEYS } = rest.batch!;
  const keyTemplate = parseTemplate(written);
  const template = compileRestTemplate(rest);
  const ask = createRestCaller(rest, name, context);
  const { resultRoot } = rest.response ?? {};
  const readAll = compileResponse({ resultRoot });
  const readOne = compileResponse({ setters: rest.response?.setters });
  const own = {};

  async function askAll(keys: Waiting, run: ResolverRun): Promise<void> {
    try {
      const batch = { keys: Array.from(keys.values(), ({ key }) => key) };
      const roots = { ...rootsOf(undefined, undefined, run), batch };
      const body = readAll(await ask(template.render(roots), run), roots);
      const found = byKey(body, keyField);
      for (const [text, { answer }] of keys) answer.resolve(found(text));
    } catch (error) {
      for (const { answer } of keys.values()) answer.reject(error);
    }
  }

  function waitingOf(run: ResolverRun): { current: Waiting | undefined } {
    return run.calls.state(own, () => ({ current: undefined }));
  }

  return {
    usesClient: template.usesClient || readsClient(keyTemplate) || readOne.usesClient,
    resolve(parent, args, run) {
      const roots = rootsOf(parent, args, run);
      const key = renderValue(keyTemplate, roots);
      const text = textOf(key);
      if (text === '') throw new FieldFailure('the key of a batch is empty');
      const place = waitingOf(run);
      let waiting = place.current;
      if (!waiting || waiting.size >= maxKeys) {
        waiting = place.current = new Map();
        const own = waiting;
        // All fields of a list are resolved before this runs.
        setImmediate(() => {
          if (place.current === own) place.current = undefined;
          void askAll(own, run);
        });
      }
      let known = waiting.get(text);
      if (!known) waiting.set(text, (known = { key, answer: Promise.withResolvers<unknown>() }));
      return known.answer.promise.then((body) => readOne(body, roots));
    },
  };
}

function byKey(body: unknown, keyField: string | undefined): (key: string) => unknown {
  if (keyField === undefined) {
    if (!isRecord(body)) throw notByKey();
    return (key) => (Object.hasOwn(body, key) ? body[key] : null);
  }
  if (!Array.isArray(body)) throw notByKey();
  const elements = new Map<string, unknown>();
  for (const element of body as readonly Readonly<Record<string, unknown>>[]) {
    if (typeof element === 'object' && element !== null) elements.set(textOf(element[keyField]), element);
  }
  return (key) => elements.get(key) ?? null;
}

function notByKey(): FieldFailure {
  return new FieldFailure('the response to a batch has no values by key');
}
