export { createChain, type ChainDecision, type ChainParts } from './chain.ts';
export { ERROR_CODES } from './error-codes.ts';
export { apiKeyMethod } from './methods/api-key.ts';
export { basicMethod } from './methods/basic.ts';
export { jwtMethod } from './methods/jwt.ts';
