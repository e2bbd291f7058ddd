import type { Message } from './message.ts';

export interface TransformEnvironment {
  readonly side: 'request' | 'response';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly escape: boolean;
}

/** Changes a message. */
export interface ChangeMessage {
  /** False if the body is neither read nor changed; it counts as empty. */
  readonly readsBody: boolean;
  /** Changes the head, and returns the new body; `undefined` keeps the body. Throws `ERR_ROUTING_TRANSFORMATION` (400). */
  apply(message: Message, body: Buffer): Buffer | undefined;
}
