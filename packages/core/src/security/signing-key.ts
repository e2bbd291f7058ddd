/** The Secret whose `signing-key` replicas share: for logins under way and for results that are kept in Redis. */
export const SIGNING_KEY_SECRET = { name: 'extauth-signing-key', namespace: 'gw-system' } as const;
