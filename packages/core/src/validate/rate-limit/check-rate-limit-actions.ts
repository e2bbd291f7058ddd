import { isHeaderName } from '../../http/reserved-headers.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type {
  RateLimitAction,
  RateLimitActions,
  RateLimitConcurrency,
  RateLimitCost,
} from '../../schema/route/rate-limit.ts';
import { each, fields, within, type Check } from '../check.ts';
import { checkText, invalidRateLimit, noEffect, WARNING } from './limits.ts';

/** Maximum number of entries of a descriptor. */
const MAX_ENTRIES = 16;
/** Maximum number of descriptors of one block. */
const MAX_DESCRIPTORS = 128;
const PSEUDO_HEADERS = new Set([':authority', ':method', ':path', ':scheme']);

/** Returns problems of the descriptors that requests are counted under. */
export const checkRateLimits: Check<readonly RateLimitActions[]> = (limits, at) => [
  ...invalidRateLimit(
    limits.length > MAX_DESCRIPTORS && `${limits.length} rate limits: at most ${MAX_DESCRIPTORS} are allowed`,
    at,
  ),
  ...each(limits.slice(0, MAX_DESCRIPTORS), at, (limit, path) => [
    ...checkEntries(limit, path),
    ...within(limit.cost, [...path, 'cost'], checkCost),
    ...invalidRateLimit(
      limit.type === 'TOKEN' && 'type TOKEN is not supported: only requests are counted',
      [...path, 'type'],
      { hint: 'REQUEST, or cost for requests that count more' },
    ),
  ]),
];

/** Returns problems of limits of requests in flight. */
export const checkConcurrency: Check<readonly RateLimitConcurrency[]> = (limits, at) => each(limits, at, checkEntries);

type Entries = Pick<RateLimitActions, 'actions' | 'setActions'>;

function checkEntries({ actions = [], setActions = [] }: Entries, at: FieldPath): FieldProblem[] {
  const isEmpty = actions.length === 0 && setActions.length === 0;
  return [
    ...invalidRateLimit(isEmpty && 'a rate limit must have actions', at, { hint: 'actions, setActions' }),
    ...checkList(actions, [...at, 'actions']),
    ...checkList(setActions, [...at, 'setActions']),
  ];
}

const checkList: Check<readonly RateLimitAction[]> = (actions, at) => [
  ...invalidRateLimit(
    actions.length > MAX_ENTRIES && `${actions.length} actions: at most ${MAX_ENTRIES} are allowed`,
    at,
  ),
  ...each(actions, at, checkAction),
];

const checkAction: Check<RateLimitAction> = (action, at) =>
  fields(action, at, {
    requestHeaders: ({ headerName, descriptorKey }, path) => [
      ...checkName(headerName, [...path, 'headerName']),
      ...checkText(descriptorKey, [...path, 'descriptorKey']),
    ],
    genericKey: ({ descriptorValue }, path) => checkText(descriptorValue, [...path, 'descriptorValue']),
    headerValueMatch: ({ descriptorValue, headers = [] }, path) => [
      ...checkText(descriptorValue, [...path, 'descriptorValue']),
      ...invalidRateLimit(headers.length === 0 && 'headerValueMatch needs headers', [...path, 'headers']),
      ...each(headers, [...path, 'headers'], checkCondition),
    ],
    metadata: ({ descriptorKey, metadataKey }, path) => [
      ...checkText(descriptorKey, [...path, 'descriptorKey']),
      ...checkText(metadataKey?.key, [...path, 'metadataKey', 'key']),
    ],
  });

type Condition = NonNullable<NonNullable<RateLimitAction['headerValueMatch']>['headers']>[number];

const checkCondition: Check<Condition> = ({ name, rangeMatch }, at) => {
  const { start = 0, end = 0 } = rangeMatch ?? {};
  const message = rangeMatch && start >= end && `no number is in the range from ${start} to ${end}, exclusive`;
  return [...checkName(name, [...at, 'name']), ...noEffect(message, [...at, 'rangeMatch'], WARNING)];
};

const checkCost: Check<RateLimitCost> = (cost, at) =>
  fields(cost, at, { header: ({ headerName }, path) => checkName(headerName, [...path, 'headerName']) });

function checkName(name = '', at: FieldPath): FieldProblem[] {
  const isKnown = PSEUDO_HEADERS.has(name) || isHeaderName(name);
  return invalidRateLimit(!isKnown && `invalid header name '${name.slice(0, 80)}'`, at);
}
