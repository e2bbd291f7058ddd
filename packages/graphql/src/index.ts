export { ERROR_CODES, type GraphQLErrorCode } from './error-codes.ts';
export type { ApiResult, ExecutableApi, Operation, OperationRequest, ResultError } from './api.ts';
export { graphqlAction, type GraphQLActionOptions } from './action.ts';
export { graphqlApi, type GraphQLApiOptions } from './middleware.ts';
export { DEFAULT_LIMITS, type Limits } from './limits.ts';
export type { UpstreamUrls } from './upstream-urls.ts';
