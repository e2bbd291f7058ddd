import type { RequestListener } from 'node:http';
import { hiveModule } from './hive-install.ts';
import { SUBGRAPHS } from './subgraphs.ts';

interface Composed {
  readonly supergraphSdl?: string;
  readonly errors?: readonly Error[];
}

/** Hive gateway over the subgraphs as it is usually set up: one supergraph, composed of their schemas. */
export async function hiveFederated(ports: readonly number[]): Promise<RequestListener> {
  const { createGatewayRuntime } = await hiveModule('@graphql-hive/gateway-runtime');
  const { composeServices } = await hiveModule('@theguild/federation-composition');
  const { parse } = await hiveModule('graphql');
  const services = SUBGRAPHS.map(({ name, typeDefs }, i) => ({
    name,
    typeDefs: (parse as (text: string) => object)(typeDefs),
    url: `http://127.0.0.1:${ports[i]}/graphql`,
  }));
  const { supergraphSdl, errors } = (composeServices as (services: object) => Composed)(services);
  if (!supergraphSdl)
    throw new Error(`the subgraphs do not compose: ${errors?.map(({ message }) => message).join(', ')}`);
  return (createGatewayRuntime as (options: object) => RequestListener)({
    supergraph: supergraphSdl,
    jit: true,
    logging: 'warn',
    graphiql: false,
    landingPage: false,
  });
}
