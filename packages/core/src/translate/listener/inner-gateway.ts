import type { FieldPath } from '../../resource/problem.ts';
import type { ResourceKey } from '../../resource/resource.ts';
import type { ConnectionMatcher, HttpGateway, TcpGateway } from '../../schema/kind/gateway.ts';
import type { HttpPart } from './listeners.ts';

/** An inner gateway: the connections that it serves, and how. */
export interface InnerGateway {
  readonly owner: ResourceKey;
  /** Path of the inner gateway in its resource. */
  readonly at: FieldPath;
  /** Default namespace of references. */
  readonly namespace: string;
  readonly matcher: ConnectionMatcher;
  readonly http?: HttpGateway;
  readonly tcp?: TcpGateway;
  /** Selects among the virtual services. */
  readonly selects?: HttpPart['selects'];
}
