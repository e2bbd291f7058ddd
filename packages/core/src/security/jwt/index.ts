import '../../node-version/supported.ts';
export { claimAt, claimHeaders, claimMetadata, unsendableClaim, type Claims } from './claims.ts';
export { FETCH_TIMEOUT_MS, localKeys, remoteKeys, type KeySource } from './key-source.ts';
export { parseKeys, type KeySet } from './key-set.ts';
export { isKeySetFailure, JWT_STATUS, type JwtFailure } from './status.ts';
export { createTokenCache } from './token-cache.ts';
export { ALGORITHMS, numericDate, type Token } from './token.ts';
export {
  checkSignature,
  createVerifier,
  DEFAULT_CLOCK_SKEW_SECONDS,
  readToken,
  type TokenRules,
  type TokenVerifier,
} from './verifier.ts';
