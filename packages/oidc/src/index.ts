export { ERROR_CODES } from './error-codes.ts';
