import { optionalTextAt, textAt, type TemplateFunction } from './arguments.ts';
import { RenderError } from './template-error.ts';
import { TEXT_FUNCTIONS } from './text-functions.ts';
import { VALUE_FUNCTIONS } from './value-functions.ts';

/** Functions that read the message. */
const MESSAGE_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  body: { args: [0, 0], call: (_, { data }) => data.body() },
  clusterMetadata: { args: [1, 1], call: (args, { data }) => data.clusterMetadata(textAt(args, 0), undefined) },
  cluster_metadata: {
    args: [1, 2],
    call: (args, { data }) => data.clusterMetadata(textAt(args, 0), optionalTextAt(args, 1)),
  },
  context: { args: [0, 0], call: (_, { data }) => data.context() },
  dynamic_metadata: {
    args: [1, 2],
    call: (args, { data }) => data.dynamicMetadata(textAt(args, 0), optionalTextAt(args, 1)),
  },
  env: { args: [1, 1], call: (args, { data }) => data.env(textAt(args, 0)) },
  extraction: { args: [1, 1], call: (args, { data }) => data.extraction(textAt(args, 0)) },
  header: { args: [1, 1], call: (args, { data }) => data.header(textAt(args, 0)) },
  host_metadata: {
    args: [1, 2],
    call: (args, { data }) => data.hostMetadata(textAt(args, 0), optionalTextAt(args, 1)),
  },
  request_header: { args: [1, 1], call: (args, { data }) => data.requestHeader(textAt(args, 0)) },
};

/** Functions that check for a variable. */
const VARIABLE_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  /** Returns the second argument if the first is an undefined variable; compiled separately, because that must not throw. */
  default: { args: [2, 2], call: ([value]) => value! },
  exists: { args: [1, 1], call: (args, run) => run.find(textAt(args, 0)) !== undefined },
};

/** Every function of the template language, by name. */
export const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  ...VARIABLE_FUNCTIONS,
  ...VALUE_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...MESSAGE_FUNCTIONS,
};

/** Returns the error of an undefined variable. */
export function undefinedVariable(name: string): RenderError {
  return new RenderError(`variable '${name.slice(0, 60)}' is not defined`);
}
