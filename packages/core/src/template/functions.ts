import { optionalTextAt, textAt, type TemplateFunction } from './arguments.ts';
import { TEXT_FUNCTIONS } from './text-functions.ts';
import { VALUE_FUNCTIONS } from './value-functions.ts';

const metadata = (read: 'clusterMetadata' | 'dynamicMetadata' | 'hostMetadata'): TemplateFunction => ({
  args: [1, 2],
  call: (args, { data }) => data[read](textAt(args, 0), optionalTextAt(args, 1)),
});

/** Functions that read the message. */
const MESSAGE_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  body: { args: [0, 0], call: (_, { data }) => data.body() },
  clusterMetadata: { args: [1, 1], call: (args, { data }) => data.clusterMetadata(textAt(args, 0), undefined) },
  cluster_metadata: metadata('clusterMetadata'),
  context: { args: [0, 0], call: (_, { data }) => data.context() },
  dynamic_metadata: metadata('dynamicMetadata'),
  env: { args: [1, 1], call: (args, { data }) => data.env(textAt(args, 0)) },
  extraction: { args: [1, 1], call: (args, { data }) => data.extraction(textAt(args, 0)) },
  header: { args: [1, 1], call: (args, { data }) => data.header(textAt(args, 0)) },
  host_metadata: metadata('hostMetadata'),
  request_header: { args: [1, 1], call: (args, { data }) => data.requestHeader(textAt(args, 0)) },
};

/** Every function of the template language, by name. */
export const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  /** Returns the second argument if the first is an undefined variable; compiled separately, because that must not throw. */
  default: { args: [2, 2], call: ([value]) => value! },
  exists: { args: [1, 1], call: (args, run) => run.find(textAt(args, 0)) !== undefined },
  ...VALUE_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...MESSAGE_FUNCTIONS,
};
