/**
 * Creates `max` slots that clients share. A client gets at most half of those that the others leave, so that one client cannot block the others, and
 * each further one gets fewer. Pass the `networkOf` a client's address.
 */
export function createClientSlots(max: number) {
  const byClient = new Map<string, number>();
  let used = 0;
  return {
    /** Acquires a slot. Returns false if the client has as many as are left for all others. */
    acquire(client: string): boolean {
      const own = byClient.get(client) ?? 0;
      if (own >= max - used) return false;
      used++;
      byClient.set(client, own + 1);
      return true;
    },
    release(client: string): void {
      const left = byClient.get(client)! - 1;
      used--;
      if (left > 0) byClient.set(client, left);
      else byClient.delete(client);
    },
  };
}
