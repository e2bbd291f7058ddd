import type { Adapter, AdapterPayload } from 'oidc-provider';

interface Held {
  readonly payload: AdapterPayload;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Beyond this many entries the oldest is evicted. */
const MAX_ENTRIES = 10_000;

/** Creates the store of a provider: one `Map` for all its models. */
export function createMemoryAdapter(): (model: string) => Adapter {
  const held = new Map<string, Held>();
  return (model) => adapterOf(held, `${model}:`);
}

function adapterOf(held: Map<string, Held>, prefix: string): Adapter {
  const live = (key: string): AdapterPayload | undefined => {
    const found = held.get(key);
    if (found && found.until > Date.now()) return found.payload;
    held.delete(key);
    return undefined;
  };
  const findBy = (field: 'uid' | 'userCode', value: string): AdapterPayload | undefined => {
    for (const [key, { payload }] of held) {
      if (key.startsWith(prefix) && payload[field] === value) return live(key);
    }
    return undefined;
  };
  return {
    async upsert(id, payload, expiresIn) {
      held.delete(prefix + id);
      held.set(prefix + id, { payload, until: expiresIn ? Date.now() + expiresIn * 1000 : Infinity });
      if (held.size > MAX_ENTRIES) held.delete(held.keys().next().value!);
    },
    find: async (id) => live(prefix + id),
    findByUid: async (uid) => findBy('uid', uid),
    findByUserCode: async (userCode) => findBy('userCode', userCode),
    async consume(id) {
      const payload = live(prefix + id);
      if (payload) payload.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      held.delete(prefix + id);
    },
    async revokeByGrantId(grantId) {
      for (const [key, { payload }] of held) {
        // A login in progress refers to the grant too, and continues.
        if (key.startsWith(prefix) && payload.grantId === grantId) held.delete(key);
      }
    },
  };
}
