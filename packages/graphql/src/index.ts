export { ERROR_CODES, type GraphQLErrorCode } from './error-codes.ts';
