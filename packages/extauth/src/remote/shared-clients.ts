import { clusterName, type Context, type ResourceRef } from '@edge-gateway/core';
import { createGrpcClients, type GrpcClients } from '@edge-gateway/core/grpc';
import { MAX_ANSWER_BYTES } from '../server/ask.ts';
import { UnusableAnswer } from '../chain/failure.ts';

/** The connections of one user of a server. */
export interface HeldClients {
  readonly clients: GrpcClients;
  /** The connections are closed with the last user. */
  release(): void;
}

interface Entry {
  readonly clients: GrpcClients;
  users: number;
}

/** Connections to auth servers over gRPC: all virtual hosts share those of one server. */
export class SharedClients {
  readonly #entries = new Map<string, Entry>();

  hold(upstream: ResourceRef, authority: string, { callUpstream, secrets }: Context): HeldClients {
    const cluster = clusterName(upstream);
    const key = `${cluster} ${authority}`;
    let entry = this.#entries.get(key);
    if (!entry) {
      const find = () => callUpstream?.find?.(upstream);
      const clients = createGrpcClients(() => find()?.snapshot, {
        secrets,
        maxBytes: MAX_ANSWER_BYTES,
        pick: () => find()?.pick(),
        failure: (reason) => new UnusableAnswer(`${cluster}: ${reason}`),
        ...(authority !== '' && { authority }),
      });
      this.#entries.set(key, (entry = { clients, users: 0 }));
    }
    entry.users++;
    const held = entry;
    let isHeld = true;
    return {
      clients: held.clients,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        if (--held.users > 0) return;
        this.#entries.delete(key);
        held.clients.close();
      },
    };
  }
}
